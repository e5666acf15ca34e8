/** The rules for accounts and their mails. Their type is checked in rules.ts. */
export const accountRules = {
  'sign-up-open': {
    severity: 'info',
    remedy: 'set limits of accounts to what you expect, or signUp to "invitation"',
    source: 'docs/guides/self-service.md',
  },
  'sign-up-default-scope': {
    severity: 'warning',
    remedy: 'remove default from the scope, or set signUp to "invitation" or "closed"',
    source: 'RFC 9700 section 2.3; docs/guides/self-service.md',
  },
  'mail-limit-high': {
    severity: 'warning',
    remedy: 'lower the limit: with it, a stranger fills mailboxes in your name',
    source: 'docs/guides/self-service.md',
  },
  'mail-sender-domain': {
    severity: 'warning',
    remedy: 'use an address in the domain of the issuer, and allow the mail server there (SPF, DKIM, DMARC)',
    source: 'RFC 7208; RFC 7489 section 3.1',
  },
  'mail-unusable': {
    severity: 'warning',
    remedy: 'correct mail, or the mail server: users wait for mails that never arrive, and the pages cannot say it',
    source: 'docs/guides/self-service.md',
  },
  'mail-outbox': {
    severity: 'info',
    remedy: 'set mail.url and mail.from before users on other machines get mails',
    source: 'docs/guides/self-service.md',
  },
} as const
