"""Pictures of a result as SVG, each complete by itself: no font, script or style sheet from anywhere.

A picture takes the colour of the text around it. What it tells by colour it also tells by place, by a word or by a dash; the
classes on its parts let a page give it the page's own colours.
"""
