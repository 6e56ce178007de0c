# What Doxygen reads of a document: links to pages stay, without their anchors (Doxygen 1.9.4 does not know GitHub's), and links to
# anything else in the tree become plain text. What slides tell Marp before their first slide goes.
1{
/^---$/{
:front
N
/\n---$/!b front
d
}
}
s/\[([^]]*)\]\([^):]*tests\/[^)]*\)/\1/g
s/\]\(([^):#]*\.md)[^)]*\)/]\x01\1)/g
s/(^|[^!])\[([^]]*)\]\([^):]*\)/\1\2/g
s/\x01/(/g
