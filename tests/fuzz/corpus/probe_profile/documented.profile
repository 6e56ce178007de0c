weft probe profile 1
private-data "MYULP" 0001
expect send 20
region send 1 stag 8 offset 0 length 12 rights read,write
send "ready"
read 01 {offset} {stag} {size}
at-a-time 4
