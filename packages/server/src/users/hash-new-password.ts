import { createConcurrencyLimit, hashPassword, passwordLimits } from '@grantry/users/password-hash'

type HashPassword = (password: string) => Promise<string>

/** Each owner has four at most among those that wait, so none waits for the queue of another one. */
const inProcess = createConcurrencyLimit({
  concurrent: passwordLimits.concurrent,
  queued: Number.POSITIVE_INFINITY,
})

const known = new WeakMap<object, HashPassword>()

/**
 * Returns the function that hashes new passwords of a running server. At most four run concurrently in the process, because
 * each takes 19 MiB. For each owner, 200 wait, and further ones are refused with 503.
 *
 * @param owner a provider, or a store of users: a tenant must not fill the queue of another one
 */
export function newPasswordsOf(owner: object): HashPassword {
  const existing = known.get(owner)
  if (existing !== undefined) return existing
  const limited = createConcurrencyLimit(passwordLimits)
  const hash: HashPassword = (password) => limited(() => inProcess(() => hashPassword(password)))
  known.set(owner, hash)
  return hash
}
