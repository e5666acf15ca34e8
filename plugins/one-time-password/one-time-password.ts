export { newRecoveryCodes, type RecoveryCodesOptions, recoveryCodes } from './recovery-codes.ts'
export { newTotpSecret, type TotpOptions, totp, totpUri } from './totp.ts'
