/** The texts of the account page in one language. `{client}` and other names in braces are replaced. */
export interface AccountMessages {
  accountTitle: string
  back: string
  sessionsTitle: string
  thisDevice: string
  /** `{browser}` and `{system}` are names, such as Firefox and Windows. */
  deviceName: string
  unknownDevice: string
  /** `{time}`: such as "5 minutes ago". */
  lastUsed: string
  endSession: string
  endSessionTitle: string
  endSessionIntro: string
  endOthers: string
  endOthersTitle: string
  endOthersIntro: string
  applicationsTitle: string
  applicationsNone: string
  withdraw: string
  withdrawTitle: string
  withdrawIntro: string
  sessionEnded: string
  sessionsEnded: string
  accessWithdrawn: string
  gone: string
}
