import { client, type FindingCase, healthy, strong } from './configurations.ts'

const web = { ...client, grantTypes: ['authorization_code'], redirectUris: ['https://web.example.com/callback'] }
const secondFactors = { encryptionSecrets: [strong('factors')] }

const withFactors = (entry: object, more: object = {}) => ({
  ...healthy,
  clients: [{ ...web, ...more }],
  plugins: [{ name: 'sign-in', ...entry }],
})

/** What users cannot set up, or prove. */
export const accountPageCases: readonly FindingCase[] = [
  [
    'passkeys without the page on which users add them',
    withFactors({ passkeys: true }),
    { id: 'factors-without-page', severity: 'warning', where: 'plugins[0].passkeys' },
  ],
  [
    'second factors without the page on which users set them up',
    withFactors({ secondFactors }),
    { id: 'factors-without-page', severity: 'warning', where: 'plugins[0].secondFactors' },
  ],
  [
    'the password grant of a client that requires a second factor',
    withFactors(
      { account: {}, secondFactors },
      { requireSecondFactor: true, grantTypes: ['authorization_code', 'password'] },
    ),
    { id: 'factor-not-askable', severity: 'warning', where: 'clients[0].grantTypes' },
  ],
]
