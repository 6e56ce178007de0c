# An rping client (rping -c), for weft probe --listen: its first Send names its buffer. The buffer has the size of rping's option
# -S, by default 64 octets; cases that need memory want 64 KiB, and do not apply to less.
weft probe profile 1

expect send 16
region send 1 stag 8/4 offset 0/8 length 12/4 rights read
