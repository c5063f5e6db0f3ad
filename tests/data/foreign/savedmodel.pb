E
"serve*2.16.12

xPlaceholder*
dtype0

yRelux"¿