"""Ordinary mail of ten years in five languages, the same for the same seed: threads, people, orders, newsletters.

The hay around the needles: nobody has a problem in it, and yet it is full of names, numbers, amounts and dates.
"""

import random
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import date, datetime, timedelta

from workspace import Artifact, Kind, Person, Role

YEARS = 10


@dataclass(frozen=True)
class Tongue:
    """What is needed to write in one language. Slots: thing, place, name, day, money, number, hour, count."""

    names: tuple[str, ...]
    families: tuple[str, ...]
    things: tuple[str, ...]
    places: tuple[str, ...]
    months: tuple[str, ...]
    weekdays: tuple[str, ...]
    day: str
    money: str
    hello: str
    bye: str
    titles: tuple[str, ...]
    openings: tuple[str, ...]
    replies: tuple[str, ...]
    machines: tuple[str, ...]


def letters(count: int, now: datetime, persons: tuple[str, ...], seed: int = 1) -> Iterator[Artifact]:
    """`count` mails to and from the `persons` (addresses of one mailbox), the last on the day before `now`."""
    draw = random.Random(seed)
    writer = _Writer(draw)
    number = 0
    while number < count:
        tongue = draw.choice(TONGUES)
        sent = now - timedelta(days=1) - timedelta(minutes=draw.randrange(YEARS * 365 * 24 * 60))
        person = Person(Role.TO, "", draw.choice(persons))
        for mail in writer.thread(tongue, sent, person, number):
            if number < count and mail.time is not None and mail.time < now:
                yield mail
                number += 1


class _Writer:
    def __init__(self, draw: random.Random) -> None:
        self._draw = draw
        self._people = {tongue: [self._person(tongue, n) for n in range(120)] for tongue in TONGUES}
        self._matters = ["".join(draw.choices(_SYLLABLES, k=draw.randint(2, 4))).title() for _ in range(1500)]

    def thread(self, tongue: Tongue, sent: datetime, person: Person, number: int) -> Iterator[Artifact]:
        """One mail of a machine, or a conversation of up to five mails."""
        draw = self._draw
        matter = draw.choice(self._matters)
        if draw.random() < 0.4:
            shop = draw.choice(self._matters[:150])
            sender = Person(Role.FROM, shop, f"no-reply@{shop.lower()}.example")
            text = self._say(tongue, draw.choice(tongue.machines), sent, matter)
            title, _, body = text.partition(" | ")
            yield self._mail(f"{number}-0", title, body, (sender, person), sent, automatic=True)
            return
        other = Person(Role.FROM, *draw.choice(self._people[tongue]))
        title = self._say(tongue, draw.choice(tongue.titles), sent, matter)
        length = min(5, 1 + int(draw.expovariate(0.8)))
        for turn in range(length):
            lines = tongue.openings if turn == 0 else tongue.replies
            said = " ".join(
                self._say(tongue, line, sent, matter) for line in draw.sample(lines, draw.randint(2, 4))
            )
            body = f"{tongue.hello}\n\n{said}\n\n{tongue.bye}\n{other.name.split()[0]}"
            here, there = (other, person) if turn % 2 == 0 else (person, other)
            people = (Person(Role.FROM, here.name, here.email), Person(Role.TO, there.name, there.email))
            subject = title if turn == 0 else f"Re: {title}"
            yield self._mail(f"{number}-{turn}", subject, body, people, sent, thread=f"letters-{number}")
            sent += timedelta(minutes=draw.randint(20, 4000))

    def _mail(
        self, key: str, title: str, text: str, people: tuple[Person, ...], sent: datetime, **other: object
    ) -> Artifact:
        values = {"people": people, "time": sent, **other}
        return Artifact("letters", f"<{key}@letters.example>", Kind.EMAIL, title, text, **values)

    def _person(self, tongue: Tongue, number: int) -> tuple[str, str]:
        name, family = self._draw.choice(tongue.names), self._draw.choice(tongue.families)
        return f"{name} {family}", f"p{number}.{TONGUES.index(tongue)}@{self._draw.choice(_DOMAINS)}.example"

    def _say(self, tongue: Tongue, line: str, sent: datetime, matter: str) -> str:
        draw = self._draw
        day = sent.date() + timedelta(days=draw.randint(-20, 40))
        whole = draw.randint(12, 9800)
        return line.format(
            thing=draw.choice(tongue.things),
            place=draw.choice(tongue.places),
            name=draw.choice(self._people[tongue])[0],
            matter=matter,
            day=_day(tongue, day),
            money=tongue.money.format(whole if draw.random() < 0.6 else f"{whole}.{draw.randint(10, 99)}"),
            number=f"{draw.choice('ABDKRT')}{draw.randint(10_000, 999_999)}",
            hour=f"{draw.randint(8, 19)}:{draw.choice(('00', '15', '30'))}",
            count=draw.randint(2, 40),
        )


def _day(tongue: Tongue, day: date) -> str:
    return tongue.day.format(
        day=day.day, month=tongue.months[day.month - 1], number=day.month, weekday=tongue.weekdays[day.weekday()]
    )


def listed(said: str) -> tuple[str, ...]:
    """The words of a list."""
    return tuple(said.split(", "))


_SYLLABLES = [begin + end for begin in "bdfgklmnprstvz" for end in ("a", "e", "i", "o", "u", "an", "or")]
_DOMAINS = listed("harrow, lindental, brisac, olmedo, hanbit, northgate, postfach, courriel, correo, mail")

ENGLISH = Tongue(
    listed(
        "Alice, Brian, Carol, Derek, Ellen, Frank, Grace, Henry, Isla, Jack, Karen, Liam, Moira, Neil, Olive, "
        "Peter"
    ),
    listed(
        "Ashby, Barton, Cole, Dawson, Ellis, Ford, Gibbs, Hart, Ingram, Joyce, Kemp, Lowe, Marsh, Nash, Owen, "
        "Pryce"
    ),
    listed(
        "report, invoice, draft, ticket, key, parcel, poster, budget, slides, survey, heater, printer, "
        "bicycle, recipe, photo, contract, rota, brochure, garden bench, piano, boiler, roof, timetable, "
        "laptop, tent, form, sample, menu"
    ),
    listed("Leeds, the office, the hall, Room 4, the library, Dover, the station, the old mill, York, the café"),
    listed("January, February, March, April, May, June, July, August, September, October, November, December"),
    listed("Monday, Tuesday, Wednesday, Thursday, Friday, Saturday, Sunday"),
    "{weekday} {day} {month}", "£{}", "Hello,", "Best wishes",
    ("{matter}: the {thing}", "Lunch on {day}?", "{thing} for {place}", "Minutes, {day}", "Thanks for the {thing}",
     "{matter} visit", "Question about the {thing}", "Holiday dates", "Your {thing}"),
    ("The {thing} for {matter} is finished and lies at {place}.", "Shall we meet on {day} at {hour} in {place}?",
     "{name} sent me the {thing}, it looks fine to me.",
     "The whole thing came to {money}, which is what we expected.",
     "I have put the {count} copies on your desk.", "Please have a look at the {thing} when you find the time.",
     "We were in {place} with the children and it rained.", "The next round is on {day}, nothing to prepare.",
     "{name} is back from leave and says hello.", "The reference is {number}."),
    ("That suits me, see you at {hour}.", "Thank you, the {thing} has arrived.",
     "I agree, let us leave it as it is.",
     "{name} has taken care of it.", "Done on {day}.", "All paid, {money}.", "No, {place} is fine.",
     "I will bring the {thing}."),
    ("Your order {number} is on its way | Your {thing} will arrive on {day}. Total {money}..",
     "{matter} newsletter | This month: {count} ideas for your {thing}, a visit to {place}, and a talk by {name}.",
     "Receipt {number} | We received {money} for your {thing} on {day}. Thank you for shopping with {matter}.",
     "Your parcel was delivered | Parcel {number} was left in {place} on {day} at {hour}.",
     "{count} new posts in {matter} | {name} wrote about a {thing}. You follow {matter}."),
)  # fmt: skip
GERMAN = Tongue(
    listed(
        "Anke, Bernd, Claudia, Dieter, Erika, Frauke, Gisela, Holger, Ines, Jürgen, Katrin, Lutz, Monika, "
        "Norbert"
    ),
    listed("Ahrens, Bauer, Conrad, Dietz, Engel, Fuchs, Geiger, Huber, Imhof, Jahn, Krüger, Lorenz, Maier, Noack"),
    listed(
        "Bericht, Rechnung, Entwurf, Fahrkarte, Schlüssel, Paket, Plakat, Drucker, Fahrrad, Rezept, Foto, "
        "Vertrag, Dienstplan, Prospekt, Gartenbank, Klavier, Heizung, Dach, Fahrplan, Zelt, Formular, Muster, "
        "Speisekarte"
    ),
    listed("Kassel, im Büro, in der Halle, Raum 12, in der Bücherei, am Bahnhof, Fulda, in der Mühle, im Café"),
    listed("Januar, Februar, März, April, Mai, Juni, Juli, August, September, Oktober, November, Dezember"),
    listed("Montag, Dienstag, Mittwoch, Donnerstag, Freitag, Samstag, Sonntag"),
    "{weekday}, {day}. {month}", "{} €", "Hallo,", "Viele Grüße",
    ("{matter}: {thing}", "Mittagessen am {day}?", "{thing} für {place}", "Protokoll vom {day}", "Danke: {thing}",
     "Besuch bei {matter}", "Frage zu {thing}", "Urlaubsplanung"),
    ("{thing} für {matter} ist fertig und liegt {place}.", "Treffen wir uns am {day} um {hour} Uhr, {place}?",
     "{name} hat mir alles geschickt, sieht gut aus.", "Zusammen waren es {money}, wie erwartet.",
     "Die {count} Kopien liegen auf deinem Tisch.", "Schau es dir in Ruhe an.",
     "Wir waren am Wochenende in {place}.",
     "Die nächste Runde ist am {day}, vorzubereiten ist nichts.", "Das Zeichen ist {number}."),
    ("Passt mir gut, bis {hour} Uhr.", "Danke, {thing} ist angekommen.", "Einverstanden, wir lassen es so.",
     "{name} hat sich darum gekümmert.", "Am {day} erledigt.", "Alles bezahlt, {money}.",
     "Ich bringe {thing} mit."),
    ("Ihre Bestellung {number} ist unterwegs | {thing} kommt am {day}. Summe {money}. Sie müssen nichts tun.",
     "Rundbrief {matter} | Diesen Monat: {count} Tipps rund um {thing}, ein Ausflug nach {place}, von {name}.",
     "Quittung {number} | Wir haben {money} für {thing} am {day} erhalten. Danke für Ihren Einkauf bei {matter}.",
     "Ihr Paket ist da | Sendung {number} wurde am {day} um {hour} Uhr abgelegt: {place}."),
)  # fmt: skip
FRENCH = Tongue(
    listed(
        "Amélie, Bruno, Chloé, Damien, Élise, Fabien, Gaëlle, Hugo, Inès, Julien, Karine, Luc, Margaux, "
        "Nicolas"
    ),
    listed(
        "Aubert, Blanchard, Colin, Dupuis, Étienne, Fabre, Garnier, Hamel, Joly, Lambert, Mercier, Noël, "
        "Perrin"
    ),
    listed(
        "rapport, facture, brouillon, billet, clé, colis, affiche, imprimante, vélo, recette, photo, contrat, "
        "planning, dépliant, banc, piano, chaudière, toit, horaire, tente, formulaire, échantillon, menu"
    ),
    listed("Lyon, au bureau, à la salle, salle 3, à la médiathèque, à la gare, Tours, au moulin, au café"),
    listed("janvier, février, mars, avril, mai, juin, juillet, août, septembre, octobre, novembre, décembre"),
    listed("lundi, mardi, mercredi, jeudi, vendredi, samedi, dimanche"),
    "{weekday} {day} {month}", "{} €", "Bonjour,", "Bien à vous",
    ("{matter} : {thing}", "Déjeuner {day} ?", "{thing} pour {place}", "Compte rendu du {day}", "Merci : {thing}",
     "Visite chez {matter}", "Question sur {thing}", "Dates de congés"),
    ("{thing} pour {matter} est prêt, {place}.", "On se voit {day} à {hour}, {place} ?",
     "{name} m'a tout envoyé, cela me semble bien.", "En tout cela fait {money}, comme prévu.",
     "Les {count} copies sont sur ton bureau.", "Regarde quand tu as le temps.", "Nous étions à {place} dimanche.",
     "La prochaine séance est {day}, rien à préparer.", "La référence est {number}."),
    ("Cela me va, à {hour}.", "Merci, {thing} est bien arrivé.", "D'accord, on laisse comme ça.",
     "{name} s'en est occupé.", "Fait {day}.", "Tout est réglé, {money}.", "J'apporte {thing}."),
    ("Votre commande {number} est en route | {thing} arrive {day}. Total {money}. Vous n'avez rien à faire.",
     "La lettre de {matter} | Ce mois-ci : {count} idées pour {thing}, une visite à {place}, {name} raconte.",
     "Reçu {number} | Nous avons bien reçu {money} pour {thing} {day}. Merci de votre achat chez {matter}.",
     "Votre colis est livré | Colis {number} déposé {day} à {hour} : {place}."),
)  # fmt: skip
SPANISH = Tongue(
    listed("Ana, Bruno, Carmen, Diego, Elena, Felipe, Gloria, Hugo, Irene, Jorge, Lucía, Marcos, Nuria, Óscar"),
    listed(
        "Alonso, Blanco, Castro, Delgado, Esteban, Flores, Gil, Herrero, Ibáñez, Lozano, Marín, Navarro, "
        "Ortega"
    ),
    listed(
        "informe, factura, borrador, billete, llave, paquete, cartel, impresora, bicicleta, receta, foto, "
        "contrato, horario, folleto, banco, piano, caldera, tejado, tienda, formulario, muestra, menú"
    ),
    listed("Burgos, la oficina, el salón, la sala 2, la biblioteca, la estación, Teruel, el molino, el café"),
    listed("enero, febrero, marzo, abril, mayo, junio, julio, agosto, septiembre, octubre, noviembre, diciembre"),
    listed("lunes, martes, miércoles, jueves, viernes, sábado, domingo"),
    "{weekday} {day} de {month}", "{} €", "Hola:", "Un saludo",
    ("{matter}: {thing}", "¿Comida el {day}?", "{thing} para {place}", "Acta del {day}", "Gracias por {thing}",
     "Visita a {matter}", "Pregunta sobre {thing}", "Fechas de vacaciones"),
    ("{thing} para {matter} está listo en {place}.", "¿Nos vemos el {day} a las {hour} en {place}?",
     "{name} me lo mandó todo, lo veo bien.", "En total fueron {money}, como esperábamos.",
     "Las {count} copias están en tu mesa.", "Míralo cuando puedas.", "Estuvimos en {place} con los niños.",
     "La próxima reunión es el {day}, no hay que preparar nada.", "La referencia es {number}."),
    ("Me viene bien, a las {hour}.", "Gracias, {thing} ha llegado.", "De acuerdo, lo dejamos así.",
     "{name} se ha encargado.", "Hecho el {day}.", "Todo pagado, {money}.", "Yo llevo {thing}."),
    ("Su pedido {number} está en camino | {thing} llega el {day}. Total {money}. No tiene que hacer nada.",
     "Boletín de {matter} | Este mes: {count} ideas para {thing}, una visita a {place} y una charla de {name}.",
     "Recibo {number} | Hemos recibido {money} por {thing} el {day}. Gracias por comprar en {matter}.",
     "Su paquete fue entregado | El envío {number} se dejó el {day} a las {hour} en {place}."),
)  # fmt: skip
KOREAN = Tongue(
    listed("민준, 서연, 지훈, 하은, 도윤, 수빈, 예준, 지우, 현우, 유진, 태윤, 소희"),
    listed("김, 이, 박, 최, 정, 강, 조, 윤, 장, 임, 한, 오"),
    listed(
        "보고서, 청구서, 초안, 승차권, 열쇠, 택배, 포스터, 프린터, 자전거, 요리법, 사진, "
        "계약서, 근무표, 안내서, 의자, 피아노, 보일러, 지붕, 시간표, 천막, 신청서, 견본, "
        "차림표"
    ),
    listed("대전, 사무실, 강당, 회의실 3, 도서관, 역 앞, 전주, 옛 방앗간, 카페"),
    tuple(str(number) for number in range(1, 13)),
    listed("월요일, 화요일, 수요일, 목요일, 금요일, 토요일, 일요일"),
    "{number}월 {day}일 {weekday}", "{}원", "안녕하세요,", "감사합니다",
    ("{matter} {thing}", "{day} 점심 어떠세요?", "{place} {thing}", "{day} 회의록", "{thing} 감사합니다",
     "{matter} 방문", "{thing} 문의", "휴가 일정"),
    ("{matter} {thing} 준비가 끝나서 {place}에 두었습니다.", "{day} {hour}에 {place}에서 만날까요?",
     "{name} 님이 모두 보내 주셨고 괜찮아 보입니다.", "모두 {money}이고 예상한 대로입니다.",
     "사본 {count}부는 책상 위에 있습니다.", "시간 나실 때 봐 주세요.", "주말에 {place}에 다녀왔습니다.",
     "다음 모임은 {day}이고 준비하실 것은 없습니다.", "번호는 {number}입니다."),
    ("좋습니다, {hour}에 뵙겠습니다.", "{thing} 잘 받았습니다.", "네, 그대로 두시지요.",
     "{name} 님이 처리하셨습니다.",
     "{day}에 마쳤습니다.", "{money} 모두 냈습니다.", "제가 {thing} 가져가겠습니다."),
    ("주문 {number} 배송 중 | {thing} 상품이 {day}에 도착합니다. 합계 {money}. 따로 하실 일은 없습니다.",
     "{matter} 소식지 | 이번 달: {thing} 이야기 {count}가지, {place} 나들이, {name} 님의 강연.",
     "영수증 {number} | {day}에 {thing} 값 {money}을 받았습니다. {matter}을 찾아 주셔서 감사합니다.",
     "택배 도착 | 송장 {number}, {day} {hour}에 {place}에 두었습니다."),
)  # fmt: skip
TONGUES = (ENGLISH, GERMAN, FRENCH, SPANISH, KOREAN)
