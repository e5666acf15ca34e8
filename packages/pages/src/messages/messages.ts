/** The texts of the pages in one language. `{client}` and other names in braces are replaced. */
export interface Messages {
  signInTitle: string
  signInIntro: string
  signInToAccount: string
  username: string
  password: string
  /** The name of a button that is pressed while the password is shown. */
  showPassword: string
  capsLock: string
  signIn: string
  staySignedIn: string
  cancel: string
  wrongCredentials: string
  tooManyAttempts: string
  tooManyAttemptsFor: string
  formExpired: string
  unavailable: string
  passkey: string
  unknownPasskey: string
  continueWith: string
  continueByMail: string
  forgotPassword: string
  createAccount: string
  or: string
  providerRefused: string
  providerFailed: string
  providerNotRecent: string
  providerNotActive: string
  providerUnavailable: string
  emailAddress: string
  continueWithOrganization: string
  unknownOrganization: string
  secondFactorTitle: string
  secondFactorIntro: string
  secondFactorCode: string
  wrongCode: string
  consentTitle: string
  consentIntro: string
  consentHost: string
  consentReturn: string
  consentDevice: string
  consentUnchecked: string
  consentOwnName: string
  /** Opens what is known about an application that describes itself, if the operator knows its host. */
  consentAbout: string
  consentHomePage: string
  consentResource: string
  consentChoice: string
  consentRequired: string
  consentNothing: string
  signedInAs: string
  allow: string
  deny: string
  /** Standard scopes, from the view of the user who is asked. */
  scopeOpenid: string
  scopeProfile: string
  scopeEmail: string
  scopeAddress: string
  scopePhone: string
  scopeOfflineAccess: string
  scopeOther: string
  claims: string
  chooseAccountTitle: string
  otherAccount: string
  deviceTitle: string
  deviceEnter: string
  deviceCode: string
  deviceAnother: string
  deviceContinue: string
  deviceCompare: string
  deviceWarning: string
  deviceApprove: string
  deviceApproved: string
  deviceDenied: string
  deviceUnknownCode: string
  deviceSignedOut: string
  errorTitle: string
  errorRequest: string
  errorClient: string
  errorExpired: string
  errorEnded: string
  errorServer: string
  errorHint: string
  errorReference: string
  logoutTitle: string
  logoutIntro: string
  logout: string
  stay: string
  signedOutTitle: string
  signedOutIntro: string
  stillSignedInTitle: string
  startAgain: string
  goToHost: string
  returnToApplication: string
  continueTitle: string
  continueIntro: string
  continueButton: string
  applicationTerms: string
  applicationPolicy: string
  privacy: string
  terms: string
  support: string
}

/** Replaces the names in braces. The result is text, not markup. */
export const fill = (text: string, values: Readonly<Record<string, string>>): string =>
  text.replace(/\{(\w+)\}/gu, (whole, name) => (Object.hasOwn(values, name) ? (values[name] ?? '') : whole))
