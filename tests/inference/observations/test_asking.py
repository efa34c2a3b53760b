import pytest

from inference.observations.requests import asking, greeted, is_patient, says_settled, wants_no_answer


@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        (
            "Hi Anna,\n\nCould you send me the figures by Friday?\n\nBen",
            "Could you send me the figures by Friday?",
        ),
        ("Which of the two is it, A or B? He wants it in writing.", "Which of the two is it, A or B?"),
        ("Please confirm the room. Thanks!", "Please confirm the room."),
        ("Let me know which version is right.", "Let me know which version is right."),
        ("All fine here.\nI need your decision on the crates.", "I need your decision on the crates."),
        ("Have you seen https://x.example/a?b=c yet?", "Have you seen https://x.example/a?b=c yet?"),
        ("Könntest du mir bitte die Liste schicken?", "Könntest du mir bitte die Liste schicken?"),
        ("Wann kommt die Lieferung?", "Wann kommt die Lieferung?"),
        ("Bitte gib mir bis Freitag Bescheid.", "Bitte gib mir bis Freitag Bescheid."),
        ("Bonjour,\n\nPourriez-vous m'envoyer le devis ?", "Pourriez-vous m'envoyer le devis ?"),
        ("Le degré, on met 12,5 ou 13 % vol. ?", "Le degré, on met 12,5 ou 13 % vol. ?"),
        ("Merci de me confirmer la date.", "Merci de me confirmer la date."),
        ("Hola Anna,\n¿Puedes confirmar la hora del martes?", "¿Puedes confirmar la hora del martes?"),
        ("Por favor, envíame el contrato.", "Por favor, envíame el contrato."),
        ("견적서를 보내 주세요.", "견적서를 보내 주세요."),
        ("회의 일정 확인 부탁드립니다.", "회의 일정 확인 부탁드립니다."),
        ("금요일까지 답변해 주실 수 있나요?", "금요일까지 답변해 주실 수 있나요?"),
        ("Thanks for the draft, can you add the map?", "Thanks for the draft, can you add the map?"),
        ("I asked Dr. Weber. Would you sign it?", "Would you sign it?"),
        ("- first point\n- could you check the second one\n- third", "could you check the second one"),
    ],
)
def test_a_question_or_request_is_found_as_it_stands(text, sentence):
    found = asking(text)
    assert found is not None
    assert " ".join(found.sentence.split()) == sentence
    assert found.direct


@pytest.mark.parametrize(
    "text",
    [
        "Thanks, that was a great help!",
        "Thank you for the figures. How are you?",
        "Hope you had a good weekend?",
        "Let me know if you have any questions.",
        "Please let me know if anything is unclear.",
        "If you have any questions, please call me.",
        "If you have any questions,\nplease do not hesitate to write.",
        "Please find the minutes attached.",
        "Please note that the office is closed.",
        "Please work from version C only.",
        "Bitte nur noch mit C arbeiten, B ist ungültig.",
        "Good. What else do you need from me?",
        "The page is at https://shop.example/?q=where&p=1 now.",
        'She asked "Can you come on Friday?" and I said yes.',
        "Er fragte „Kannst du kommen?“ und ich sagte ja.",
        "Good news.\n\n> Could you send the figures?\n> Ben",
        "Good news.\n\n-- \nBen Okafor\nQuestions? Call us, please visit our site",
        "On Monday, 2 March 2026, Anna Berger wrote:\nCould you send it?",
        "Who knows?",
        "Right?",
        "Isn't it lovely?",
        "What could go wrong?",
        "Bei Fragen melde dich bitte.",
        "Bitte beachten Sie die neuen Zeiten.",
        "Wie geht es dir?",
        "N'hésitez pas si vous avez des questions.",
        "¿Qué tal?",
        "Si tienes alguna duda, llámame por favor.",
        "안녕하세요. 자료 잘 받았습니다.",
        "궁금한 점 있으시면 언제든 연락 주세요.",
        "",
        "???",
        "M9E9V3FY>?D%A47%R26E9E$=Y1258[C^3D&15=4UM77U#8U.S<DMI:UM[AV8G",
    ],
)
def test_what_only_looks_like_a_question_is_none(text):
    assert asking(text) is None


def test_a_question_that_the_text_answers_itself_is_not_direct():
    found = asking("Why does this matter? Because the grant ends in May.")
    assert found is not None
    assert not found.direct


def test_a_question_to_another_reader_is_none():
    assert asking("Ben, could you send the figures?", frozenset({"ben"})) is None
    assert asking("Can you do it, Ben?", frozenset({"ben"})) is None
    assert asking("@ben can you do it?", frozenset({"ben"})) is None
    assert asking("Ben, could you send the figures?", frozenset({"carla"})) is not None


def test_a_very_short_question_takes_the_sentence_before_it():
    found = asking("I would send the lease today. Would you?")
    assert found is not None
    assert found.sentence == "I would send the lease today. Would you?"


def test_a_long_text_without_sentences_ends():
    assert asking("부탁 " * 9000 + "?") is None
    assert asking("\n" * 19000 + "Could you send it?") is not None
    assert asking("which? " * 2800) is not None


def test_words_around_the_question_are_read():
    assert wants_no_answer("Just so you know. No need to reply.")
    assert not wants_no_answer("Please reply by Friday.")
    assert is_patient("No rush, whenever you have a moment.")
    assert says_settled("Never mind, I found it.")
    assert says_settled("Hat sich erledigt, danke.")
    assert not says_settled("It is still open.")
    assert greeted("Hi Ben and Anna,\nhow") == "ben and anna"
    assert greeted("The figures are in.") is None


@pytest.mark.parametrize(
    "text",
    ["Ordered!! I also found out we've been paying for a duck subscription??", "Ich habe das schon bezahlt??"],
)
def test_what_somebody_says_of_themselves_with_a_question_mark_asks_nothing(text):
    assert asking(text) is None


def test_what_somebody_wonders_is_asked():
    assert asking("I wonder whether the lock fits?") is not None
