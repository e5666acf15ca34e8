import { createConcurrencyLimit, hashPassword, passwordLimits } from '@grantry/users/password-hash'

const limited = createConcurrencyLimit(passwordLimits)

/**
 * Hashes a new password for a running server. At most four run concurrently in the process and 200 wait, because each
 * takes 19 MiB: further ones are refused with 503.
 */
export const hashNewPassword = (password: string): Promise<string> => limited(() => hashPassword(password))
