"""A schema with one of each thing that .fbs has, for the tests of what is made of it."""

TEXT = """
namespace game;
enum Colour:byte { Red = -1, Green = 3, Blue }
enum Shade:byte { Dark, Light }
enum Flags:ushort (bit_flags) { A, B, C = 9 }
enum Big:ulong { Zero = 0, Top = 18446744073709551615 }
struct Small (force_align: 16) { a:ubyte; b:[ushort:3]; c:int (key); }
struct Pair { first:Small; shades:[Shade:2]; second:Small; }
table Leaf { id:ulong (key); text:string (required); }
union Thing { Leaf, Pair, Named: string = 7 }
table Root {
  colour:Colour = Blue;
  flags:Flags = "A C";
  big:Big = Top;
  odd:byte = -7;
  maybe:Colour = null;
  real:float = 0.1;
  precise:double = -inf;
  thing:Thing;
  things:[Thing];
  pair:Pair;
  pairs:[Pair];
  leaf:Leaf (required);
  leaves:[Leaf];
  gone:int (deprecated);
  bytes:[ubyte];
  aligned:[ubyte] (force_align: 32);
  longs:[long] (force_align: 4);
  words:[string];
  shared:string (shared);
  colours:[Colour];
  flagged:[Flags];
  nested:[ubyte] (nested_flatbuffer: "Leaf");
  flex:[ubyte] (flexbuffer);
  far:string (offset64);
  wide:[Pair] (vector64);
  empty:[int] = [];
  flag:bool = true;
}
root_type Root;
file_identifier "GAME";
"""
