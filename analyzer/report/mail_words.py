"""The words of the mail to the customer in each language; commands, file names and titles of findings stay as they are."""

from __future__ import annotations

from dataclasses import dataclass, field

LANGUAGES = ("en", "de", "ja")


@dataclass(frozen=True, slots=True)
class MailWords:
    """The templates of one language.

    greeting   lines above the text; `{customer}` is filled in
    on, of     where a command is run and whose file is sent; `{names}` is filled in
    machine_…  a machine that only its file names
    phrases    remarks and files of the catalog, from English; what is not among them stays English
    """

    subject: str
    greeting: tuple[str, ...]
    greeting_to: tuple[str, ...]
    intro: str
    unnamed: str
    again: str
    again_many: str
    more_files: str
    run: str
    run_anywhere: str
    send: str
    send_anywhere: str
    requests: str
    manager: str
    manager_named: str
    on: str
    of: str
    each_host: str
    but_on: str
    but_of: str
    machine: str
    machines: str
    machine_unknown: str
    about: str
    reason: str
    more_reasons: str
    no_finding: str
    plain_text: str
    thanks: str
    phrases: dict[str, str] = field(default_factory=dict)

    def translate(self, phrase: str) -> str:
        """Return a phrase of the catalog in this language; as it is where it is not known."""
        return self.phrases.get(phrase, phrase)


ENGLISH = MailWords(
    subject="Subject: {case}: outputs and files needed",
    greeting=("Hello,",),
    greeting_to=("Hello,",),
    intro="To continue with {case}, we need the following:",
    unnamed="this case",
    again="Please send {name} again: the file we received is cut short or damaged.",
    again_many="Please send these files again: those we received are cut short or damaged.",
    more_files="and {count} more",
    run="Please run {where}:",
    run_anywhere="Please run:",
    send="Please send {where}:",
    send_anywhere="Please send:",
    requests="Please send what the API of {manager} answers to these requests:",
    manager="the NSX Manager",
    manager_named="the NSX Manager {name}",
    on="on {names}",
    of="from {names}",
    each_host="each of the {count} hosts that you sent files of",
    but_on="{every}, but not on {rest}",
    but_of="{every}, but not from {rest}",
    machine="the machine that {files} came from",
    machines="the machines that {files} came from",
    machine_unknown="the machine that your files came from",
    about="for {subjects}",
    reason="Reason: {titles}",
    more_reasons="{titles}, and {count} more",
    no_finding="no known problem was found so far; most open checks need this",
    plain_text="Please send each output as plain text, exactly as printed, with its command above it.",
    thanks="Thank you.",
)

GERMAN = MailWords(
    subject="Betreff: {case}: Ausgaben und Dateien benötigt",
    greeting=("Guten Tag,",),
    greeting_to=("Guten Tag,",),
    intro="für die weitere Analyse von {case} benötigen wir noch Folgendes:",
    unnamed="diesem Fall",
    again="Bitte senden Sie uns {name} noch einmal: Die Datei ist abgeschnitten oder beschädigt angekommen.",
    again_many="Bitte senden Sie uns diese Dateien noch einmal: Sie sind abgeschnitten oder beschädigt angekommen.",
    more_files="und {count} weitere",
    run="Bitte führen Sie {where} Folgendes aus:",
    run_anywhere="Bitte führen Sie Folgendes aus:",
    send="Bitte senden Sie uns {where}:",
    send_anywhere="Bitte senden Sie uns:",
    requests="Bitte senden Sie uns die Antworten der API {manager} auf diese Anfragen:",
    manager="des NSX Managers",
    manager_named="des NSX Managers {name}",
    on="auf {names}",
    of="von {names}",
    each_host="jedem der {count} Hosts, von denen Sie uns Dateien gesendet haben",
    but_on="{every}, jedoch nicht auf {rest},",
    but_of="{every}, jedoch nicht von {rest}",
    machine="der Maschine, von der die Datei {files} stammt,",
    machines="den Maschinen, von denen die Dateien {files} stammen,",
    machine_unknown="der Maschine, von der Ihre Dateien stammen,",
    about="für {subjects}",
    reason="Grund: {titles}",
    more_reasons="{titles} und {count} weitere",
    no_finding="bisher kein bekanntes Problem gefunden; die meisten offenen Prüfungen brauchen dies",
    plain_text="Bitte senden Sie jede Ausgabe unverändert als reinen Text, mit dem Befehl darüber.",
    thanks="Vielen Dank und freundliche Grüße",
    phrases={
        "with its rotated copies": "mit den rotierten Kopien",
        "with their rotated copies": "mit den rotierten Kopien",
        "of the host, with its rotated copies": "des Hosts, mit den rotierten Kopien",
        "on the host": "auf dem Host",
        "on each host": "auf jedem Host",
        "of both hosts": "beider Hosts",
        "on the host, while the problem is there": "auf dem Host, während das Problem auftritt",
        "for each port with type 5 and subtype 9": "für jeden Port mit Typ 5 und Subtyp 9",
        "in the guest": "im Gastbetriebssystem",
        "in the guest, twice": "im Gastbetriebssystem, zweimal",
        "in the guest, twice, some minutes apart": "im Gastbetriebssystem, zweimal im Abstand einiger Minuten",
        "in the guest, for each interface": "im Gastbetriebssystem, für jede Schnittstelle",
        "from the folder of the VM": "aus dem Ordner der VM",
        "on the node": "auf dem Knoten",
        "on the edge": "auf dem Edge",
        "on the Edge": "auf dem Edge",
        "on each edge": "auf jedem Edge",
        "on the NSX Manager": "auf dem NSX Manager",
        "on each NSX Controller": "auf jedem NSX Controller",
        "on each NSX-T manager": "auf jedem NSX-T Manager",
        "on an NSX-T manager": "auf einem NSX-T Manager",
        "for each logical router": "für jeden logischen Router",
        "lists their names": "zeigt die Namen",
        "lists the names": "zeigt die Namen",
        "lists the filters": "zeigt die Filter",
        "the full bundle": "vollständig, so wie der Befehl es schreibt",
        "files are missing from the one we received": "in dem Bundle, das uns vorliegt, fehlen Dateien",
        "the VM's .vmx file": "die .vmx-Datei der VM",
        "the VM's .vmsd file": "die .vmsd-Datei der VM",
        "NSX Manager tech-support bundle": "Tech-Support-Bundle des NSX Managers",
        "the NSX Manager tech-support bundle": "das Tech-Support-Bundle des NSX Managers",
        "tech-support bundle of the NSX Controller": "Tech-Support-Bundle des NSX Controllers",
        "the support bundle of the NSX-T manager": "das Support-Bundle des NSX-T Managers",
    },
)

JAPANESE = MailWords(
    subject="件名: {case}: 追加情報ご提供のお願い",
    greeting=("ご担当者様", "", "お世話になっております。"),
    greeting_to=("{customer} ご担当者様", "", "お世話になっております。"),
    intro="{case} の調査を進めるため、以下の情報をご提供くださいますようお願いいたします。",
    unnamed="本件",
    again="{name} を再度お送りください。受領したファイルは途中で切れているか、破損しています。",
    again_many="次のファイルを再度お送りください。受領したファイルは途中で切れているか、破損しています。",
    more_files="ほか {count} 件",
    run="{where}、次のコマンドを実行してください。",
    run_anywhere="次のコマンドを実行してください。",
    send="{where}、次のファイルを取得してお送りください。",
    send_anywhere="次のファイルをお送りください。",
    requests="{manager} の API に次のリクエストを送信し、その応答をお送りください。",
    manager="NSX Manager",
    manager_named="NSX Manager {name}",
    on="{names} で",
    of="{names} から",
    each_host="ファイルをお送りいただいた {count} 台のすべてのホスト",
    but_on="{every} ({rest} を除く) ",
    but_of="{every} ({rest} を除く) ",
    machine="{files} の取得元のマシン",
    machines="{files} の取得元の各マシン",
    machine_unknown="お送りいただいたファイルの取得元のマシン",
    about="対象: {subjects}",
    reason="理由: {titles}",
    more_reasons="{titles} ほか {count} 件",
    no_finding="これまでのところ既知の問題は見つかっていません。残りの確認項目の多くにこの情報が必要です",
    plain_text="各コマンドの出力は、コマンド行を含め、加工せずにテキスト形式でお送りください。",
    thanks="お手数をおかけいたしますが、どうぞよろしくお願いいたします。",
    phrases={
        "with its rotated copies": "ローテーション済みのログを含む",
        "with their rotated copies": "ローテーション済みのログを含む",
        "of the host, with its rotated copies": "ホストのもの、ローテーション済みのログを含む",
        "on the host": "ホスト上で実行",
        "on each host": "各ホスト上で実行",
        "of both hosts": "両方のホストのもの",
        "on the host, while the problem is there": "問題の発生中にホスト上で実行",
        "for each port with type 5 and subtype 9": "type が 5、subtype が 9 の各ポートについて実行",
        "in the guest": "ゲスト OS 内で実行",
        "in the guest, twice": "ゲスト OS 内で 2 回実行",
        "in the guest, twice, some minutes apart": "ゲスト OS 内で数分の間隔を空けて 2 回実行",
        "in the guest, for each interface": "ゲスト OS 内で各インターフェイスについて実行",
        "from the folder of the VM": "仮想マシンのフォルダ内のもの",
        "on the node": "ノード上で実行",
        "on the edge": "Edge 上で実行",
        "on the Edge": "Edge 上で実行",
        "on each edge": "各 Edge 上で実行",
        "on the NSX Manager": "NSX Manager 上で実行",
        "on each NSX Controller": "各 NSX Controller 上で実行",
        "on each NSX-T manager": "各 NSX-T Manager 上で実行",
        "on an NSX-T manager": "いずれかの NSX-T Manager 上で実行",
        "for each logical router": "各論理ルーターについて実行",
        "lists their names": "名前の一覧を表示",
        "lists the names": "名前の一覧を表示",
        "lists the filters": "フィルタの一覧を表示",
        "the full bundle": "コマンドが出力した完全なもの",
        "files are missing from the one we received": "受領したバンドルには不足しているファイルがあります",
        "the VM's .vmx file": "仮想マシンの .vmx ファイル",
        "the VM's .vmsd file": "仮想マシンの .vmsd ファイル",
        "NSX Manager tech-support bundle": "NSX Manager のテクニカルサポートバンドル",
        "the NSX Manager tech-support bundle": "NSX Manager のテクニカルサポートバンドル",
        "tech-support bundle of the NSX Controller": "NSX Controller のテクニカルサポートバンドル",
        "the support bundle of the NSX-T manager": "NSX-T Manager のサポートバンドル",
    },
)

WORDS = dict(zip(LANGUAGES, (ENGLISH, GERMAN, JAPANESE), strict=True))
