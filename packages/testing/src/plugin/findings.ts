/** The rules, with what each expects of a plugin. A test names them in square brackets. */
const rules = {
  cases: 'every grant, endpoint, method, token binding and response format has a case',
  success: 'the request of the case succeeds',
  'server-error': 'no request causes a server_error',
  'missing-parameter': 'a missing parameter is invalid_request, unless it is optional',
  'empty-parameter': 'an empty parameter counts as a missing one',
  'repeated-parameter': 'a repeated parameter is invalid_request',
  'oversized-parameter': 'a value of 60000 characters is refused',
  'unknown-parameter': 'an unknown parameter is ignored',
  'wrong-secret': 'a caller with a wrong secret or token is refused',
  'disabled-client': 'a disabled client is refused',
  'client-without-grant': 'a client without the grant type is refused',
  'foreign-client': 'the credential of another client is refused, and is not spent',
  'public-client': 'a public client can use a grant for public clients',
  'unknown-scope': 'an unknown scope is refused',
  'scope-not-allowed': 'a scope that the client may not request is refused',
  'scope-escalation': 'no scope is granted beyond the request and the stored grant',
  authorization: 'the tokens have everything that the stored grant has authorized',
  refusal: 'the refused requests of the case are refused with their error',
  'uniform-refusal': 'all refusals of credentials have the same description',
  'concurrent-use': 'of 20 concurrent requests with one credential, exactly one succeeds',
  replay: 'a credential cannot be used again',
  guesses: 'a credential of less than 128 bits cannot be guessed without limit',
  'error-shape': 'an error is JSON, is not cached and has a registered code',
  'error-description': 'a description has only the characters of RFC 6749 section 5.2',
  'presented-error': 'presentError shows every refusal',
  'internal-message': 'a response does not contain the message of an internal error',
  'value-in-error': 'a response of an error does not contain the value of a parameter',
  'secret-in-event': 'no event contains a parameter or a token',
  'secret-in-storage': 'the storage does not contain a parameter or a token in plain text',
  reason: 'the reason of a refusal is one word of lower-case letters, after plugin: and the name of the plugin',
  metadata: 'the discovery document contains what the plugin announces',
  'disabled-endpoint': 'a disabled endpoint is not found and not announced',
  'inactive-user': 'an inactive user gets nothing',
  'revoked-user': 'a user who was revoked after the authorization gets nothing',
  'two-issuers': 'a request to one provider spends nothing of another provider on the same storage',
  'host-functions': 'each provider can create functions of its own for the host',
  'storage-failure': 'a failed operation of the storage is 503 temporarily_unavailable',
  'retry-after-failure': 'after a failed operation of the storage, a credential still succeeds at most once',
  'unknown-client': 'an unknown client is refused like every other one',
  'client-without-method': 'a client that is not configured for the method is refused',
  'changed-credentials': 'changed credentials are refused',
  'undeclared-field': 'consumes lists every field of the method',
  'bound-token': 'a token of a request with a proof is bound to its key, and one of another request is not',
  'stolen-token': 'a bound token is refused without a proof of its key for this request and token',
  'changed-proof': 'a changed proof is refused',
  'response-format': 'a caller that asks for the media type gets it, and every other caller JSON',
} as const

/** A rule that `testPlugin` checks. */
export type PluginRule = keyof typeof rules

/** The findings of the kit. Only the first finding of each rule and part is kept. */
export interface Findings {
  add(rule: PluginRule, part: string, seen: string): void
  /** @throws Error with one line for each broken rule of each part. */
  assertNone(plugin: string): void
}

const maxLength = 400

const oneLine = (text: string): string => {
  const line = text.replace(/\s+/gu, ' ')
  return line.length > maxLength ? `${line.slice(0, maxLength)}…` : line
}

export function createFindings(): Findings {
  const lines = new Map<string, string>()
  return {
    add(rule, part, seen) {
      const id = `[${rule}] ${part}`
      if (!lines.has(id)) lines.set(id, `- ${id}: expected that ${rules[rule]}, but ${oneLine(seen)}`)
    },
    assertNone(plugin) {
      if (lines.size === 0) return
      throw new Error(`The plugin ${plugin} breaks these rules:\n${[...lines.values()].join('\n')}`)
    },
  }
}
