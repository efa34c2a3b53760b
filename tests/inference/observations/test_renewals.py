from dataclasses import replace

import pytest

ANNA, BEN, CARLA, DAN = "anna@firm.example", "ben@firm.example", "carla@client.example", "dan@firm.example"
LEASE = (
    "Lease of a copier.\nThe term begins on 1 May 2023 and ends on 30 April 2026.\n"
    "The lease renews for a further twelve months unless notice is received at least thirty (30) days before the "
    "end of the term.\nMonthly rent 412 EUR."
)


def lease(make, text=LEASE, modified="2025-04-20 09:00", title="Contracts/Brightcopy lease.pdf", **more):
    return make.document(title, text, modified, **more)


def test_the_last_day_for_notice_is_counted_back_from_the_end_of_the_term(make):
    plan = make.event("Brightcopy: end the lease", "2026-04-10 09:00")
    (found,) = make.see(lease(make), plan, kind="renewal-near")
    assert "is Tue 31 March 2026 before the end of the term on Thu 30 April 2026" in found.sentence
    assert "stands on Fri 10 April 2026, which is too late" in found.sentence
    assert not found.certain
    assert found.template == "notice-period-closing"
    assert [item.artifact for item in found.evidence] == [2, 1]
    assert "thirty (30) days before the end of the term" in found.evidence[0].quote
    assert found.deadline == make.at("2026-04-01 00:00")
    assert found.action.parameters["due"] == "2026-03-30"


@pytest.mark.parametrize(
    "text",
    [
        "Laufzeit bis 30.04.2026.\nDer Vertrag verlängert sich um jeweils ein Jahr, wenn er nicht einen Monat vor "
        "Ablauf gekündigt wird.",
        "Der Vertrag endet am 30. April 2026. Kündigungsfrist: einen Monat zum Ende der Laufzeit, "
        "sonst Verlängerung.",
        "Le contrat prend fin le 30 avril 2026.\nIl est reconduit tacitement pour un an, sauf dénonciation par "
        "lettre un mois avant l'échéance.",
        "El contrato vence el 30 de abril de 2026.\nSe renueva por un año salvo aviso con un mes antes del "
        "vencimiento.",
        "계약 기간은 2026년 4월 30일까지로 한다.\n만료 1개월 전까지 해지 통보가 없으면 1년씩 자동 갱신된다.",
        "This licence ends on 30 April 2026 and is extended by a year unless cancelled with one month's notice.",
        "To avoid renewal, written notice must be given by 30 March 2026.",
    ],
)
def test_terms_are_read_in_five_languages(make, text):
    (found,) = make.see(lease(make, text), kind="renewal-near")
    assert "is Mon 30 March 2026" in found.sentence


def test_a_term_that_is_over_has_gone_on_by_the_stated_time(make):
    old = LEASE.replace("2026", "2024").replace("2023", "2021")
    (found,) = make.see(lease(make, old, "2025-03-20 09:00"), kind="renewal-near")
    assert "is Tue 31 March 2026 before the end of the term on Thu 30 April 2026" in found.sentence


@pytest.mark.parametrize(
    "change",
    [
        ("30 April 2026", "30 September 2026"),
        ("30 April 2026", "10 April 2026"),
        ("The lease renews for a further twelve months unless", "The lease ends by itself;"),
        ("30 April 2026", "the date in the annex"),
        ("thirty (30) days", "some days"),
    ],
    ids=["far", "over", "no renewal", "no end", "no count"],
)
def test_terms_that_are_far_over_or_not_complete_are_left_alone(make, change):
    assert make.see(lease(make, LEASE.replace(*change)), kind="renewal-near") == []


@pytest.mark.parametrize(
    ("sender", "to", "text"),
    [
        (ANNA, "leases@brightcopy.example", "We give notice that the Brightcopy lease ends on 30 April 2026."),
        (ANNA, "leases@brightcopy.example", "Hiermit kündigen wir den Vertrag Brightcopy zum 30. April."),
        ("leases@brightcopy.example", ANNA, "Brightcopy hereby confirms that we received your notice."),
    ],
)
def test_a_notice_that_was_sent_or_confirmed_settles_it(make, sender, to, text):
    mail = make.mail(text, "2026-03-10 09:00", sender=sender, to=[to], title="Lease")
    assert make.see(lease(make), mail, kind="renewal-near") == []


@pytest.mark.parametrize(
    ("to", "text"),
    [
        (BEN, "I shall cancel the Brightcopy lease in April."),
        ("sales@other.example", "We are about to cancel the Maritime contract and give notice there."),
    ],
)
def test_words_to_a_colleague_or_about_another_contract_are_no_notice(make, to, text):
    mail = make.mail(text, "2026-03-10 09:00", sender=ANNA, to=[to], title="Copiers")
    assert len(make.see(lease(make), mail, kind="renewal-near")) == 1


def test_a_wish_to_leave_makes_it_more_pressing(make):
    mail = make.mail("We should get rid of the Brightcopy machine in spring.", "2026-03-10 09:00", title="Costs")
    (with_wish,) = make.see(lease(make), mail, kind="renewal-near")
    (without,) = make.see(lease(make), kind="renewal-near")
    assert with_wish.weight > without.weight


def test_a_mail_that_tells_of_a_renewal_counts_only_with_a_wish_to_leave(make):
    told = make.mail(
        "Your Mapkit plan ends on 30 April 2026. It renews for 12 months unless you cancel "
        "14 days before the end.",
        title="Mapkit: your plan",
        automatic=True,
    )
    wish = make.mail("Let us switch from Mapkit to something cheaper.", title="Maps")
    assert make.see(told, kind="renewal-near") == []
    (found,) = make.see(told, wish, kind="renewal-near")
    assert "is Thu 16 April 2026" in found.sentence


def test_a_copy_of_the_contract_is_told_once(make):
    attached = make.attach(make.mail("The lease."), "Brightcopy lease.pdf", LEASE)
    assert len(make.see(lease(make), attached, kind="renewal-near")) == 1


def test_the_day_that_a_note_tells_is_cited_in_the_words_of_the_text(make, noted):
    text = "Rates.\nMitteilungen müssen bis zum 31. März 2026 hier sein, danach läuft alles weiter wie vereinbart."
    contract = lease(make, text)
    notes = {contract.id: [noted(dates=["2026-03-31 Tue: last day for notice"])]}
    (found,) = make.see(contract, kind="renewal-near", notes=notes)
    assert "is Tue 31 March 2026" in found.sentence
    assert "bis zum 31. März 2026" in found.evidence[0].quote


def test_a_note_on_another_date_tells_nothing(make, noted):
    contract = lease(make, "Rates.")
    assert (
        make.see(contract, kind="renewal-near", notes={contract.id: [noted(dates=["2026-03-31 Tue: delivery"])]})
        == []
    )


def test_an_old_contract_no_longer_counts(make):
    assert make.see(replace(lease(make), time=make.at("2019-01-01 09:00")), kind="renewal-near") == []
