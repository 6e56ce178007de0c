# An rping server (rping -s -P): what `weft probe --profile rping` knows of it, in the words of a file.
weft probe profile 1

# The client's first Send is the first message, so no empty Write goes before it.
empty-write no

# struct rping_rdma_info: address, rkey, size. The server reads what it names.
read {offset:8} {stag:4} {size:4}
alive read
