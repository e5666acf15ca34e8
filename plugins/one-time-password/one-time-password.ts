export { newRecoveryCodes, type RecoveryCodesOptions, recoveryCodes } from './recovery-codes.ts'
export {
  type StoredSecondFactors,
  type StoredSecondFactorsOptions,
  storedSecondFactors,
  storedSecondFactorsSchema,
} from './stored-factors.ts'
export { newTotpSecret, type TotpOptions, totp, totpUri } from './totp.ts'
