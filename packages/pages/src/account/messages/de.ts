import type { AccountMessages } from './messages.ts'

export const de: AccountMessages = {
  accountTitle: 'Ihr Konto',
  back: 'Zurück zu Ihrem Konto',
  sessionsTitle: 'Wo Sie angemeldet sind',
  thisDevice: 'Dieses Gerät',
  deviceName: '{browser} auf {system}',
  unknownDevice: 'Unbekanntes Gerät',
  lastUsed: 'Zuletzt verwendet: {time}',
  endSession: 'Abmelden',
  endSessionTitle: 'Dieses Gerät abmelden?',
  endSessionIntro: 'Beim nächsten Mal ist dort wieder eine Anmeldung nötig.',
  endOthers: 'Alle anderen Geräte abmelden',
  endOthersTitle: 'Alle anderen Geräte abmelden?',
  endOthersIntro: 'Nur dieses Gerät bleibt angemeldet.',
  applicationsTitle: 'Anwendungen mit Zugriff',
  applicationsNone: 'Keine Anwendung hat Zugriff auf Ihr Konto.',
  withdraw: 'Zugriff entziehen',
  withdrawTitle: '{client} den Zugriff entziehen?',
  withdrawIntro:
    'Die Anwendung kann Ihr Konto dann nicht mehr verwenden. Beim nächsten Mal muss sie Sie wieder fragen.',
  sessionEnded: 'Das Gerät ist abgemeldet.',
  sessionsEnded: 'Alle anderen Geräte sind abgemeldet.',
  accessWithdrawn: 'Der Zugriff ist entzogen.',
  gone: 'Das gibt es nicht mehr.',
}
