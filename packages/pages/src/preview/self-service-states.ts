import type {
  AskAddressView,
  InvitedView,
  MailProvedView,
  MailSentView,
  SelfServicePages,
} from '@grantry/plugins/self-service'
import { client, form } from './examples.ts'
import type { StatesOfPages } from './states-of.ts'

const backUrl = 'https://id.example.com/connect/signin'
const address = 'alice@example.com'

const ask: AskAddressView = { ...form, client, purpose: 'recovery', backUrl }

const sent: MailSentView = {
  ...form,
  client,
  purpose: 'recovery',
  backUrl,
  address,
  asksForCode: true,
  minutes: 15,
  againUrl: 'https://id.example.com/connect/accounts/recovery',
}

const proved: MailProvedView = {
  ...form,
  client,
  purpose: 'recovery',
  backUrl,
  name: address,
  asksForName: false,
  asksForPassword: true,
  passwordLength: { least: 8, most: 256 },
}

const signUp: MailProvedView = { ...proved, purpose: 'sign_up', asksForName: true }
const mailed = {
  url: 'https://id.example.com/connect/accounts/open#AbCdEfGhIjKlMnOpQrStUv',
  code: '48291357',
  minutes: 15,
}

const invitation: InvitedView = {
  ...form,
  name: address,
  asksForName: false,
  passwordLength: { least: 12, most: 256 },
}

/** The pages can have each problem; each is shown where users meet it first. */
export const selfServiceStates: StatesOfPages<SelfServicePages> = {
  askAddress: {
    recovery: ask,
    sign_up: { ...ask, purpose: 'sign_up' },
    sign_in: { ...ask, purpose: 'sign_in' },
    address_malformed: { ...ask, address: 'alice', problem: 'address_malformed' },
    account_changed: { ...ask, address, problem: 'account_changed' },
    form_expired: { ...ask, address, problem: 'form_expired' },
    too_many_attempts: { ...ask, address, problem: 'too_many_attempts', retryAfter: 40 },
  },
  mailSent: {
    recovery: sent,
    sign_up: { ...sent, purpose: 'sign_up' },
    sign_in: { ...sent, purpose: 'sign_in' },
    link: { ...sent, asksForCode: false },
    wrong_code: { ...sent, problem: 'wrong_code' },
    form_expired: { ...sent, problem: 'form_expired' },
    too_many_attempts: { ...sent, problem: 'too_many_attempts' },
  },
  mailProved: {
    recovery: proved,
    sign_up: signUp,
    sign_in: { ...proved, purpose: 'sign_in', asksForPassword: false },
    form_expired: { ...proved, problem: 'form_expired' },
    too_many_attempts: { ...proved, problem: 'too_many_attempts', retryAfter: 40 },
    name_malformed: { ...signUp, username: 'al', problem: 'name_malformed' },
    name_taken: { ...signUp, username: 'alice', problem: 'name_taken' },
    password_short: { ...proved, problem: 'password_short' },
    password_long: { ...proved, problem: 'password_long' },
    password_malformed: { ...proved, problem: 'password_malformed' },
    password_personal: { ...signUp, username: 'alice', problem: 'password_personal' },
    password_common: { ...proved, problem: 'password_common' },
  },
  mailElsewhere: {
    usual: { home: 'https://id.example.com/', hasCode: true },
    link: { home: 'https://id.example.com/', hasCode: false },
  },
  invited: {
    usual: invitation,
    name: { ...invitation, asksForName: true },
    name_malformed: { ...invitation, asksForName: true, username: 'al', problem: 'name_malformed' },
    name_taken: { ...invitation, asksForName: true, username: 'alice', problem: 'name_taken' },
    too_many_attempts: { ...invitation, problem: 'too_many_attempts', retryAfter: 40 },
    password_short: { ...invitation, problem: 'password_short' },
    password_long: { ...invitation, problem: 'password_long' },
    password_malformed: { ...invitation, problem: 'password_malformed' },
    password_personal: { ...invitation, problem: 'password_personal' },
    password_common: { ...invitation, problem: 'password_common' },
  },
  invitationState: {
    usual: { state: 'ready', signInUrl: 'https://id.example.com/account' },
    account_exists: { state: 'account_exists', signInUrl: 'https://id.example.com/account' },
    ended: { state: 'ended', home: 'https://id.example.com/' },
  },
  mail: {
    recovery: { kind: 'recovery', ...mailed },
    sign_up: { kind: 'sign_up', ...mailed },
    sign_in: { kind: 'sign_in', ...mailed },
    code: { kind: 'sign_in', code: mailed.code, minutes: 15 },
    account_exists: { kind: 'account_exists' },
    password_changed: { kind: 'password_changed' },
    invitation: {
      kind: 'invitation',
      url: 'https://id.example.com/connect/invitation?token=AbCdEfGhIjKlMnOpQrStUv',
      until: 1_800_000_000,
    },
  },
}
