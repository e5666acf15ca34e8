/** The members of an error of the library. Its message can contain the address and the response of the server. */
interface Failure {
  readonly code?: unknown
  readonly responseCode?: unknown
  readonly message?: unknown
}

/** Causes that the library replaces by `ESOCKET` or `ETLS`, by its messages. */
const causes: readonly (readonly [RegExp, string])[] = [
  [/self-signed certificate|self signed certificate/u, 'SELF_SIGNED_CERTIFICATE'],
  [/does not match certificate/u, 'CERTIFICATE_OF_ANOTHER_HOST'],
  [/certificate has expired/u, 'CERTIFICATE_EXPIRED'],
  [/unable to (?:verify|get)/u, 'CERTIFICATE_OF_UNKNOWN_AUTHORITY'],
  [/wrong version number|packet length too long/u, 'NO_TLS_AT_THIS_PORT'],
]

function causeOf(message: unknown): string | undefined {
  const text = String(message)
  // The error of a system call, such as `connect ECONNREFUSED 192.0.2.1:587`.
  const [, system] = /^(?:connect|getaddrinfo|queryA|queryAaaa|read|write) (E[A-Z_]{2,20})\b/u.exec(text) ?? []
  return system ?? causes.find(([form]) => form.test(text))?.[1]
}

/**
 * Returns an error for a failed mail: the codes of the library, the cause and the server, without the address of the
 * mail, the response of the server and the password.
 *
 * @param server host and port
 */
export function mailFailure(thrown: unknown, server: string): Error {
  const { code, responseCode, message } = (typeof thrown === 'object' && thrown !== null ? thrown : {}) as Failure
  // With a response code, the message is the response of the server.
  const cause = responseCode === undefined ? causeOf(message) : undefined
  const known = [code, responseCode, cause].filter((detail) => /^[A-Z0-9_]{1,40}$/u.test(String(detail)))
  const codes = known.length === 0 ? 'UNKNOWN' : [...new Set(known)].join(' ')
  return new Error(`The mail server has not accepted a mail (${codes} at ${server})`)
}
