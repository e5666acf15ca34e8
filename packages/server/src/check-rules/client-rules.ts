/** The rules for what clients get. Their type is checked in rules.ts. */
export const clientRules = {
  'access-token-lives-long': {
    severity: 'warning',
    remedy: 'set accessTokenLifetime to an hour or less, and let clients refresh tokens',
    source: 'RFC 6750 section 5.3',
  },
  'refresh-token-lives-long': {
    severity: 'warning',
    remedy: 'set refreshToken.absoluteLifetime to 90 days or less, or set slidingLifetime so that unused tokens expire',
    source: 'RFC 9700 section 4.14.2',
  },
  'code-lives-long': {
    severity: 'warning',
    remedy: 'set authorizationCodeLifetime to one minute, at most ten',
    source: 'RFC 6749 section 4.1.2',
  },
  'refresh-token-reused': {
    severity: 'warning',
    remedy: 'set refreshToken.usage to rotate, so that theft is detected',
    source: 'RFC 9700 section 4.14.2',
  },
  'refresh-token-grace': {
    severity: 'warning',
    remedy: 'let one process of the client refresh, and set refreshToken.gracePeriod to 0',
    source: 'docs/decisions/0154-refresh-tokens-of-several-processes.md',
  },
  'client-cannot-succeed': {
    severity: 'warning',
    remedy: 'complete the client, or remove it',
    source: 'docs/guides/configuration.md',
  },
} as const
