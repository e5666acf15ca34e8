/** The rules for users. Their type is checked in rules.ts. */
export const userRules = {
  'password-hash-cheap': {
    severity: 'warning',
    remedy: 'hash it again with grantry hash-password',
    source: 'RFC 7914 section 2; OWASP Password Storage Cheat Sheet',
  },
  'users-unusable': {
    severity: 'error',
    remedy: 'correct the setting or the database, then run grantry check again; the server does not start',
    source: 'docs/guides/users.md',
  },
  'users-unencrypted': {
    severity: 'warning',
    remedy: 'use TLS: sslmode=verify-full in the url of PostgreSQL, or ldaps:// or startTls',
    source: 'RFC 4513 section 6.3; docs/guides/users.md',
  },
} as const
