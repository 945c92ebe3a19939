"""Built-in word lists, German and English: what carries no meaning, and what is merely common."""

from __future__ import annotations

_STOP_ENGLISH = """
a about above after again against all also am an and any are as at be because been before being
below between both but by can could did do does doing down during each else ever few for from
further get gets got had has have having he her here hers herself him himself his how i if in into
is it its itself just let me more most my myself of off on once only or other our ours ourselves
out over own please same shall she should so some such tell than that the their theirs them
themselves then there these they this those through to too under until up upon us very was we were
what when where which while who whom whose why will with would you your yours yourself
"""

_STOP_GERMAN = """
aber alle allem allen aller alles als also am an ander andere anderem anderen anderer anderes auch
auf aus bei beim bin bis bist bitte da dabei dadurch dafur dagegen daher damit dann daran darauf
daraus darin das dass daruber dazu dein deine deinem deinen deiner dem den denn der des dessen
dich die dies diese diesem diesen dieser dieses dir doch dort du durch ein eine einem einen einer
eines einig einige einmal er es etwa etwas euch euer eure fur gegen hab habe haben hat hatte
hatten hier hin hinter ich ihm ihn ihnen ihr ihre ihrem ihren ihrer im in indem ins ist ja jede
jedem jeden jeder jedes jener jetzt kann kannst konnen konnte machen man manche mein meine meinem
meinen meiner mich mir mit muss mussen musste nach noch nun nur ob oder ohne sein seine seinem
seinen seiner seit selbst sich sie sind so solche soll sollen sollte sondern sonst uber um und uns
unser unsere unserem unseren unter viel vom von vor wahrend wann war waren warum was weil welche
welchem welchen welcher welches wenn wer werde werden wie wieder will wir wird wirst wo woher
wohin wollen wollte wurde wurden zu zum zur zwar zwischen
"""

_COMMON = """
alt alte alter hot cold warm kalt hell dark short kurz color colour farbe price preis cost kosten
able always answer ask back bad begin best better big bring buy call case change come company
country course day different early end enough even every example fact family far feel file find
first friend full general give go good great group hand happen help high home house idea important
information issue keep kind know large last late later leave life like likes line list little live
long look lot made main make many matter mean meeting money month much name need never new next
nothing now number often old open order part people place plan point possible problem program
project put question quite read real really right run said say second see seem sent set show since
small something start state still stop sure system take talk team tell text thing think time today
together tomorrow try turn two type use used user using want way week well without word work world
write wrong year years yesterday yes young abend anfang anderung arbeit arbeiten art aufgabe bald
bedeuten beispiel besser bleiben brauchen bringen datei davon denken ding drei eigentlich einfach
ende erste ersten fall familie finden firma frage fragen frau freund fruh ganz geben gehen geht
geld genau gerade gern gerne geschichte gibt glauben gross grosse gruppe gut gute guten halten
haus heissen helfen heute hilfe hoch immer information jahr jahre jahren kein kind kinder klein
kleine kommen kommt lang lange lassen leben lesen letzte liegen liste machen macht mal mann mehr
mensch menschen moglich monat morgen nachste name nehmen neu neue neuen nicht nichts nie nutzer
oft ort paar person plan problem programm projekt punkt recht richtig sagen sagt schlecht schnell
schon schreiben sehen sehr seite setzen spater stadt stehen steht stelle stellen stunde suchen
system tag tage team teil text thema treffen tun uhr versuchen verwenden vielleicht viele voll
wasser weg weiss weit weiter wenig wichtig wissen woche wochen wort zahl zeigen zeit ziel zimmer
zusammen zwei benutzen benutzer
"""

STOPWORDS = frozenset(_STOP_ENGLISH.split()) | frozenset(_STOP_GERMAN.split())
COMMON = frozenset(_COMMON.split())
