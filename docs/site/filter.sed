# What Doxygen reads of a document: links to pages stay, without their anchors (Doxygen 1.9.4 does not know GitHub's), and links to
# anything else in the tree become plain text. What slides tell Marp before their first slide goes.
# Rows of the explained tour become links: the site has that page.
1{
/^---$/{
:front
N
/\n---$/!b front
d
}
}
s/\[([^]]*)\]\([^):]*tests\/[^)]*\)/\1/g
# Doxygen finds pages by the end of their path, and there are several README.md.
s/\]\(\.\.\/course\/README/](docs\/course\/README/g
s/\]\(([^):#]*\.md)[^)]*\)/]\x01\1)/g
s/(^|[^!])\[([^]]*)\]\([^):]*\)/\1\2/g
s/\x01/(/g
# A number before the title is no list: a space that does not break is after it.
1s/^# ([0-9]+)\. /# \1.\xc2\xa0/
s/`weft-tour\.html#row=([0-9]+)&tab=([a-z]+)`/<a href="weft-tour.html#row=\1\&tab=\2">row \1 of the explained tour<\/a>/g
