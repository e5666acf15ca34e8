import type { Pages } from '@grantry/pages'
import type { ClientView } from '@grantry/plugins/sign-in'

const client: ClientView = {
  clientId: 'shop',
  name: 'Example Shop',
  uri: 'https://shop.example.com',
  logoUri: 'https://shop.example.com/logo.png',
  policyUri: 'https://shop.example.com/privacy',
  tosUri: 'https://shop.example.com/terms',
}

const form = {
  action: 'https://id.example.com/connect/signin',
  fields: { interaction: 'abc', form_token: 'token' },
  formTargets: ['https:'],
}

/** Every page in every state, by the name of its picture. */
export const views: { readonly [name: string]: (pages: Pages, locale: string) => ReturnType<Pages['error']> } = {
  'second-factor': (pages, locale) => pages.secondFactor({ ...form, client, subjectName: 'alice' }, locale),
  'second-factor-wrong': (pages, locale) =>
    pages.secondFactor({ ...form, client, subjectName: 'alice', problem: 'wrong_code' }, locale),
  'sign-in': (pages, locale) => pages.signIn({ ...form, client, canCancel: true }, locale),
  'sign-in-stay': (pages, locale) => pages.signIn({ ...form, client, staySignedIn: false, canCancel: true }, locale),
  'sign-in-wrong': (pages, locale) =>
    pages.signIn({ ...form, client, username: 'alice', problem: 'wrong_credentials', canCancel: true }, locale),
  'sign-in-limited': (pages, locale) =>
    pages.signIn({ ...form, client, problem: 'too_many_attempts', retryAfter: 30, canCancel: true }, locale),
  'sign-in-expired': (pages, locale) =>
    pages.signIn({ ...form, client, problem: 'form_expired', canCancel: true }, locale),
  'sign-in-unavailable': (pages, locale) =>
    pages.signIn({ ...form, client, problem: 'unavailable', canCancel: false }, locale),
  consent: (pages, locale) =>
    pages.consent(
      {
        ...form,
        client,
        subjectName: 'alice@example.com',
        scopes: ['openid', 'profile', 'email', 'offline_access', 'orders'].map((name) => ({ name })),
        claims: ['birthdate'],
      },
      locale,
    ),
  'consent-choice': (pages, locale) =>
    pages.consent(
      {
        ...form,
        client,
        subjectName: 'alice@example.com',
        scopes: ['openid', 'read', 'files:write', 'offline_access'].map((name) => ({
          name,
          ...(name !== 'openid' && { choice: { field: `scope:${name}`, isTicked: name === 'read' } }),
        })),
        resources: [{ audience: 'https://files.example.com/mcp', scopes: ['read', 'files:write'] }],
        claims: [],
        described: { host: 'app.example.com', isKnown: false },
      },
      locale,
    ),
  'consent-nothing': (pages, locale) =>
    pages.consent(
      {
        ...form,
        client,
        subjectName: 'alice@example.com',
        scopes: ['read', 'mail:send'].map((name) => ({
          name,
          choice: { field: `scope:${name}`, isTicked: false },
        })),
        resources: [
          { audience: 'https://files.example.com/mcp', scopes: ['read'] },
          { audience: 'https://mail.example.com', scopes: ['read', 'mail:send'] },
        ],
        claims: ['birthdate'],
        described: { homePage: 'app.example.com', returnsTo: 'app.example.com', isKnown: true },
        problem: 'nothing_chosen',
      },
      locale,
    ),
  'choose-account': (pages, locale) =>
    pages.chooseAccount({ ...form, client, accounts: [{ id: 'a', name: 'alice@example.com' }] }, locale),
  'device-code': (pages, locale) => pages.deviceCode({ step: 'enter_code' }, locale),
  'device-code-unknown': (pages, locale) => pages.deviceCode({ step: 'enter_code', problem: 'code_unknown' }, locale),
  'device-confirm': (pages, locale) =>
    pages.deviceCode(
      { step: 'confirm', userCode: 'BCDF-GHJK', client, scopes: ['openid', 'orders'], formToken: 'token' },
      locale,
    ),
  'device-approved': (pages, locale) => pages.deviceCode({ step: 'approved' }, locale),
  'device-denied': (pages, locale) => pages.deviceCode({ step: 'denied' }, locale),
  'device-signed-out': (pages, locale) => pages.deviceCode({ step: 'signed_out' }, locale),
  error: (pages, locale) =>
    pages.error(
      {
        code: 'invalid_request',
        reason: 'plugin:authorization-endpoint:redirect_uri_mismatch',
        home: 'https://id.example.com/',
      },
      locale,
    ),
  'confirm-logout': (pages, locale) => pages.confirmLogout({ ...form, subjectName: 'alice@example.com' }, locale),
  'signed-out': (pages, locale) =>
    pages.signedOut({ clientName: 'Example Shop', returnTo: 'https://shop.example.com/' }, locale),
  'still-signed-in': (pages, locale) =>
    pages.stillSignedIn({ clientName: 'Example Shop', returnTo: 'https://shop.example.com/' }, locale),
  'form-post': (pages, locale) => pages.formPost({ ...form, fields: { code: 'c', state: 's' } }, locale),
}
