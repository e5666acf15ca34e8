/** The paths of the pages for second factors. */
export const otpPaths = { setUp: 'otp/set-up', remove: 'otp/remove', codes: 'recovery-codes' } as const
