import { type FindingCase, type HealthyCase, healthy } from './configurations.ts'

const mail = { url: 'smtps://id:password@mail.example.com', from: 'Example <id@example.com>' }

const withAccounts = (accounts: object, more: object = {}) => ({
  ...healthy,
  administration: true,
  mail,
  plugins: [{ name: 'sign-in', accounts }],
  ...more,
})

const path = 'plugins[0].accounts'

/** Accounts that are fine. */
export const healthyAccounts: readonly HealthyCase[] = [
  ['closed accounts with mails', withAccounts({})],
  ['accounts by invitation', withAccounts({ signUp: 'invitation' })],
  ['open accounts with limits', withAccounts({ signUp: 'open', limits: { perNetwork: 20 } })],
  ['a sender in another part of the domain', withAccounts({}, { mail: { ...mail, from: 'id@mail.example.com' } })],
]

/** Accounts and mails, and the expected finding. */
export const mailCases: readonly FindingCase[] = [
  [
    'open accounts',
    withAccounts({ signUp: 'open' }),
    { id: 'sign-up-open', severity: 'info', where: `${path}.signUp` },
  ],
  [
    'a default scope for every visitor',
    withAccounts({ signUp: 'open', limits: {} }, { scopes: [{ ...healthy.scopes[0], default: true }] }),
    { id: 'sign-up-default-scope', severity: 'warning', where: 'scopes[0].default' },
  ],
  [
    'many mails to one address',
    withAccounts({ limits: { perAddress: 500 } }),
    { id: 'mail-limit-high', severity: 'warning', where: `${path}.limits.perAddress` },
  ],
  [
    'many mails from one network',
    withAccounts({ limits: { perNetwork: 5000 } }),
    { id: 'mail-limit-high', severity: 'warning', where: `${path}.limits.perNetwork` },
  ],
  [
    'a sender in a domain of others',
    withAccounts({}, { mail: { ...mail, from: 'Example <example@gmail.com>' } }),
    { id: 'mail-sender-domain', severity: 'warning', where: 'mail.from' },
  ],
  [
    'mails of a development server',
    withAccounts({}, { mail: undefined, issuer: 'http://127.0.0.1:8484' }),
    { id: 'mail-outbox', severity: 'info', where: path },
  ],
  [
    'accounts without a mail server behind https',
    withAccounts({}, { mail: undefined }),
    { id: 'configuration-invalid', severity: 'error' },
  ],
  [
    'mails without TLS to another machine',
    withAccounts({}, { mail: { url: 'smtp://mail.example.com', from: 'id@example.com', requireTls: false } }),
    { id: 'configuration-invalid', severity: 'error' },
  ],
]
