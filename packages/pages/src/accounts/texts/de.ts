import type { AccountsTexts } from '../texts.ts'

export const de: AccountsTexts = {
  recoveryTitle: 'Passwort vergessen?',
  recoveryIntro:
    'Geben Sie die E-Mail-Adresse Ihres Kontos ein. Wir senden Ihnen eine E-Mail, mit der Sie ein neues Passwort wählen.',
  signUpTitle: 'Konto erstellen',
  signUpIntro: 'Geben Sie Ihre E-Mail-Adresse ein. Wir senden Ihnen eine E-Mail, um sie zu bestätigen.',
  mailSignInTitle: 'Per E-Mail anmelden',
  mailSignInIntro:
    'Geben Sie die E-Mail-Adresse Ihres Kontos ein. Wir senden Ihnen eine E-Mail, mit der Sie sich anmelden.',
  address: 'E-Mail-Adresse',
  send: 'E-Mail senden',
  back: 'Zurück zur Anmeldung',
  addressMalformed: 'Geben Sie eine E-Mail-Adresse ein, zum Beispiel name@example.com.',
  sentTitle: 'Sehen Sie in Ihr Postfach',
  sentIfKnown: 'Wenn {address} zu einem Konto gehört, ist eine E-Mail unterwegs. Sie gilt {minutes} min.',
  sentTo: 'Eine E-Mail an {address} ist unterwegs. Sie gilt {minutes} min.',
  sentCode:
    'Geben Sie den Code aus der E-Mail ein. Enthält sie einen Link, können Sie stattdessen diesen in diesem Browser öffnen.',
  sentLink: 'Öffnen Sie den Link aus der E-Mail in diesem Browser.',
  outboxText: 'Dieser Server dient der Entwicklung: E-Mails kommen nur in seinem Postausgang an.',
  outboxLink: 'Im Postausgang lesen',
  sendAgain: 'Weitere E-Mail senden',
  newPasswordTitle: 'Neues Passwort wählen',
  newPassword: 'Neues Passwort',
  savePassword: 'Passwort speichern',
  passwordHint: 'Mindestens {least} Zeichen. Länger ist besser, Leerzeichen sind erlaubt.',
  createButton: 'Konto erstellen',
  usernameHint: '3 bis 64 Buchstaben, Ziffern, Punkte, Bindestriche und Unterstriche.',
  nameMalformed:
    'Wählen Sie einen Benutzernamen aus 3 bis 64 Buchstaben, Ziffern, Punkten, Bindestrichen und Unterstrichen.',
  nameTaken: 'Dieser Benutzername ist vergeben. Wählen Sie einen anderen.',
  passwordShort: 'Wählen Sie ein Passwort mit mindestens {least} Zeichen.',
  passwordLong: 'Wählen Sie ein Passwort mit höchstens {most} Zeichen.',
  passwordMalformed: 'Wählen Sie ein Passwort ohne Zeilenumbrüche und Steuerzeichen.',
  passwordPersonal: 'Wählen Sie ein Passwort, das nicht Ihr Name, Ihre Adresse oder der Name dieses Dienstes ist.',
  passwordCommon: 'Angreifer probieren dieses Passwort zuerst. Wählen Sie ein anderes.',
  confirmTitle: 'Als {name} anmelden',
  elsewhereTitle: 'Dieser Link funktioniert hier nicht',
  elsewhereText:
    'Öffnen Sie den Link in dem Browser, in dem Sie die E-Mail angefordert haben, oder geben Sie dort den Code ein. Ein Link gilt einmal, 15 Minuten lang. Gilt er nicht mehr, fordern Sie eine weitere E-Mail an.',
  elsewhereLink:
    'Öffnen Sie den Link in dem Browser, in dem Sie die E-Mail angefordert haben. Ein Link gilt einmal, 15 Minuten lang. Gilt er nicht mehr, fordern Sie eine weitere E-Mail an.',
  mailRecoverySubject: 'Neues Passwort wählen',
  mailRecoveryText: 'Für Ihr Konto bei {service} wurde ein neues Passwort angefordert.',
  mailSignUpSubject: 'E-Mail-Adresse bestätigen',
  mailSignUpText: 'Mit dieser Adresse soll ein Konto bei {service} erstellt werden.',
  mailSignInSubject: 'Bei {service} anmelden',
  mailSignInText: 'Für Ihr Konto bei {service} wurde eine Anmeldung angefordert.',
  mailOpen: 'Öffnen Sie diesen Link in dem Browser, in dem Sie diese E-Mail angefordert haben:',
  mailCode: 'Oder geben Sie dort diesen Code ein:',
  mailExpires: 'Gültig für {minutes} min.',
  mailIgnore:
    'Wenn Sie diese E-Mail nicht angefordert haben, ignorieren Sie sie. Geben Sie Link und Code niemandem weiter.',
  mailExistsSubject: 'Sie haben bereits ein Konto',
  mailExistsText:
    'Mit dieser Adresse soll ein Konto bei {service} erstellt werden. Sie gehört bereits zu einem Konto. Melden Sie sich damit an, oder wählen Sie dort ein neues Passwort.',
  mailChangedSubject: 'Ihr Passwort wurde geändert',
  mailChangedText:
    'Das Passwort Ihres Kontos bei {service} wurde geändert. Auf allen anderen Geräten sind Sie abgemeldet. Wenn Sie das nicht waren, wählen Sie jetzt ein neues Passwort und informieren Sie den Betreiber.',
  mailInvitedSubject: 'Ihre Einladung zu {service}',
  mailInvitedText: 'Sie sind eingeladen, mit dieser Adresse ein Konto bei {service} zu erstellen.',
  mailInvitedOpen: 'Öffnen Sie diesen Link, um ein Passwort zu wählen:',
  mailInvitedUntil: 'Gültig bis {date}.',
  mailInvitedIgnore: 'Wenn Sie diese Einladung nicht erwarten, ignorieren Sie sie. Geben Sie den Link nicht weiter.',
  invitationEndedTitle: 'Diese Einladung gilt nicht mehr',
  invitationEndedText:
    'Sie wurde verwendet oder zurückgezogen, oder sie ist abgelaufen. Wenn Sie ein Konto haben, melden Sie sich an. Bitten Sie sonst um eine weitere Einladung.',
  accountExistsText: 'Melden Sie sich damit an. Wenn Sie das Passwort vergessen haben, wählen Sie dort ein neues.',
  accountReadyTitle: 'Ihr Konto ist bereit',
  accountReadyText: 'Sie können sich jetzt damit anmelden.',
  mailChangedReview:
    'Passkeys, verknüpfte Konten und zweite Faktoren, die vorher hinzugefügt wurden, gelten weiter. Prüfen Sie auf der Seite Ihres Kontos, ob Sie alle kennen:',
}
