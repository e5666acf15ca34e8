import { ResultCodeError } from 'ldapts'

/** The result codes of RFC 4511 that a wrong password, or an account that is locked or gone, has in the usual servers. */
const refusals: readonly number[] = [
  19, // constraintViolation: too many wrong passwords (389 Directory Server)
  32, // noSuchObject: removed since the search
  48, // inappropriateAuthentication: has no password
  49, // invalidCredentials: also disabled, expired or locked in Active Directory
  53, // unwillingToPerform: inactivated (389 Directory Server)
]

const meanings: ReadonlyMap<number, string> = new Map([
  [1, 'reports a failure of an operation (1); it may require a bind first'],
  [3, 'has exceeded its time limit (3); it needs an index for the attributes of the filter'],
  [8, 'requires stronger authentication (8); use ldaps:// or startTls'],
  [10, 'refers to another server (10), and referrals are not followed; use the server that has the users'],
  [11, 'has exceeded an administrative limit (11); it needs an index for the attributes of the filter'],
  [13, 'requires TLS (13); use ldaps:// or startTls'],
  [32, 'has no such entry (32); correct the DN'],
  [34, 'does not accept the form of a DN (34)'],
  [49, 'refuses the DN or the password (49)'],
  [50, 'gives this account too few rights (50)'],
  [51, 'is busy (51)'],
  [52, 'is unavailable (52)'],
])

/** The result code of the server; `undefined` if the connection failed. */
export const codeOf = (error: unknown): number | undefined =>
  error instanceof ResultCodeError ? error.code : undefined

/** Whether the server refused the password of a user. */
export const isRefusal = (error: unknown): boolean => refusals.includes(codeOf(error) ?? -1)

/** Returns an error with a fixed text: messages of servers quote DNs, and those of libraries requests. */
export function explain(error: unknown, server: string): Error {
  const code = codeOf(error)
  if (code !== undefined) return new Error(`${server} ${meanings.get(code) ?? `returned the result code ${code}`}`)
  const { code: reason, message } = error as { readonly code?: unknown; readonly message?: string }
  return new Error(`${server} is not available: ${typeof reason === 'string' ? reason : message}`)
}
