import type { DeviceView } from '@grantry/plugins/device-authorization'
import type { ConsentView } from '@grantry/plugins/sign-in'
import type { Pages } from '../create-pages.ts'
import { client, form, plainClient } from './examples.ts'
import type { StatesOfPages } from './states-of.ts'

const ways = ['Google', 'Microsoft', 'Apple', 'GitHub', 'GitLab', 'Keycloak', 'Example Company'].map((name) => ({
  kind: 'provider' as const,
  name,
  url: 'https://id.example.com/connect/upstream',
}))

const signIn = { ...form, client, canCancel: true, ways: [], asksForPassword: true }
const passkey = { challenge: 'AAAA', rpId: 'id.example.com' }

const secondFactor = { ...form, client, subjectName: 'alice' }

const consent: ConsentView = {
  ...form,
  client,
  subjectName: 'alice@example.com',
  scopes: ['openid', 'profile', 'email', 'offline_access', 'orders'].map((name) => ({ name })),
  resources: [],
  claims: ['birthdate'],
}

const choiceOf = (names: readonly string[], ticked: readonly string[]): ConsentView['scopes'] =>
  names.map((name) => ({
    name,
    ...(name !== 'openid' && { choice: { field: `scope:${name}`, isTicked: ticked.includes(name) } }),
  }))

const files = { audience: 'https://files.example.com/mcp', scopes: ['read', 'files:write'] }

const device: Extract<DeviceView, { readonly step: 'confirm' }> = {
  step: 'confirm',
  userCode: 'BCDF-GHJK',
  client,
  subjectName: 'alice@example.com',
  scopes: ['openid', 'orders'],
  choosable: [],
  leftOut: [],
  resources: [],
  otherAccount: '?user_code=BCDF-GHJK&account=other',
  formToken: 'token',
}

const error = { code: 'invalid_request', reason: 'plugin:authorization-endpoint:redirect_uri_mismatch' }
const home = 'https://id.example.com/'
const ended = { clientName: 'Example Shop', returnTo: 'https://shop.example.com/' }

export const states: StatesOfPages<Pages> = {
  signIn: {
    usual: signIn,
    plain: { ...signIn, client: plainClient, canCancel: false },
    color: { ...signIn, client: { ...client, color: '#c2410c' }, ways: ways.slice(0, 2) },
    light_color: { ...signIn, client: { ...plainClient, color: '#ffd54a' } },
    stay: { ...signIn, staySignedIn: false },
    passkey: { ...signIn, passkey, staySignedIn: true },
    ways: { ...signIn, ways: ways.slice(0, 3), passkey },
    accounts: {
      ...signIn,
      ways: [
        ...(['recovery', 'sign_up', 'mail'] as const).map((kind) => ({
          kind,
          name: '',
          url: `https://id.example.com/${kind}`,
        })),
        ...ways.slice(0, 2),
      ],
    },
    all_ways: { ...signIn, ways },
    ways_only: { ...signIn, ways: ways.slice(0, 4), asksForPassword: false },
    wrong_credentials: { ...signIn, username: 'alice', problem: 'wrong_credentials' },
    too_many_attempts: { ...signIn, problem: 'too_many_attempts', retryAfter: 30 },
    form_expired: { ...signIn, problem: 'form_expired' },
    unavailable: { ...signIn, problem: 'unavailable', canCancel: false },
    unknown_passkey: { ...signIn, passkey, problem: 'unknown_passkey' },
    provider_refused: { ...signIn, ways: ways.slice(0, 2), problem: 'provider_refused', provider: 'Google' },
    organization: { ...signIn, asksForOrganization: true },
    organization_only: { ...signIn, asksForOrganization: true, asksForPassword: false, ways: ways.slice(0, 2) },
    unknown_organization: { ...signIn, asksForOrganization: true, problem: 'unknown_organization' },
    provider_failed: { ...signIn, ways: ways.slice(0, 2), problem: 'provider_failed', provider: 'Google' },
    provider_not_recent: { ...signIn, ways: ways.slice(0, 2), problem: 'provider_not_recent', provider: 'Google' },
    provider_not_active: { ...signIn, ways: ways.slice(0, 2), problem: 'provider_not_active', provider: 'Google' },
    provider_unavailable: { ...signIn, ways: ways.slice(0, 2), problem: 'provider_unavailable', provider: 'Google' },
  },
  secondFactor: {
    usual: secondFactor,
    wrong_code: { ...secondFactor, problem: 'wrong_code' },
    too_many_attempts: { ...secondFactor, problem: 'too_many_attempts', retryAfter: 30 },
  },
  consent: {
    usual: consent,
    plain: { ...consent, client: plainClient, scopes: [{ name: 'openid' }], claims: [], opensApplication: true },
    choice: {
      ...consent,
      scopes: choiceOf(['openid', 'read', 'files:write', 'offline_access'], ['read']),
      resources: [files],
      claims: [],
      described: { host: 'app.example.com', isKnown: false },
    },
    nothing_chosen: {
      ...consent,
      scopes: choiceOf(['read', 'mail:send'], []),
      resources: [files, { audience: 'https://mail.example.com', scopes: ['read', 'mail:send'] }],
      described: { homePage: 'app.example.com', returnsTo: 'app.example.com', isKnown: true },
      problem: 'nothing_chosen',
    },
  },
  chooseAccount: {
    usual: { ...form, client, accounts: ['alice@example.com', 'bob'].map((name) => ({ id: name, name })) },
  },
  deviceCode: {
    enter_code: { step: 'enter_code' },
    signed_out: { step: 'signed_out', again: '/connect/device' },
    insufficient: { step: 'signed_out', insufficientFor: 'WDJB-MJHT', again: '/connect/device?account=other' },
    confirm: device,
    described: { ...device, described: { host: 'tv.example.net', isKnown: false } },
    approved: { step: 'approved' },
    denied: { step: 'denied' },
    code_unknown: { step: 'enter_code', problem: 'code_unknown' },
    too_many_guesses: { step: 'enter_code', problem: 'too_many_guesses' },
    form_expired: { step: 'enter_code', problem: 'form_expired' },
    choice: {
      ...device,
      scopes: ['openid', 'read', 'files:write'],
      choosable: ['read', 'files:write'],
      resources: [files],
    },
    nothing_chosen: {
      ...device,
      scopes: ['read', 'files:write'],
      choosable: ['read', 'files:write'],
      leftOut: ['read', 'files:write'],
      problem: 'nothing_chosen',
    },
  },
  error: {
    usual: { ...error, home },
    not_found: { code: 'invalid_request', reason: 'endpoint_unknown', requestId: 'b3c1f0a2', home },
    development: {
      ...error,
      home: 'http://127.0.0.1:8484/',
      registered: {
        redirectUris: ['http://127.0.0.1:3000/callback', 'http://localhost:3000/api/auth/callback/grantry'],
        grantTypes: ['authorization_code', 'refresh_token'],
        scopes: ['openid', 'profile', 'orders'],
      },
    },
    application: { ...error, returnTo: { name: 'Example Shop', url: 'com.example.shop:/callback' } },
    expired: {
      code: 'invalid_request',
      reason: 'plugin:sign-in:interaction_unknown',
      requestId: 'b3c1f0a2',
      restart: 'https://id.example.com/connect/authorize?client_id=shop',
      returnTo: { name: 'Example Shop', url: 'https://shop.example.com/' },
    },
    connection_ended: { code: 'invalid_client', reason: 'plugin:registration:client_ended', home },
    unknown_application: { code: 'unauthorized_client', reason: 'client_unknown', home },
    too_many: { code: 'slow_down', reason: 'too_many_requests', home },
    unavailable: { code: 'server_error', reason: 'internal', requestId: 'b3c1f0a2', home },
  },
  formPost: {
    usual: { ...form, action: 'https://shop.example.com/callback', fields: { code: 'c', state: 's' }, waits: true },
  },
  confirmLogout: { usual: { ...form, subjectName: 'alice@example.com' }, unnamed: form },
  signedOut: { usual: ended, elsewhere: { home } },
  stillSignedIn: { usual: ended, elsewhere: { home } },
}
