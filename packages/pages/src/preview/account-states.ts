import type {
  AccountFormPage,
  AccountNotice,
  AccountPages,
  OverviewView,
  ProfileField,
  SessionView,
} from '@grantry/plugins/account'
import { notices } from '../account/parts.ts'
import { client, plainClient } from './examples.ts'
import type { StatesOfPages } from './states-of.ts'

const subjectName = 'alice@example.com'
const url = 'https://id.example.com/account'
const minute = 60
const day = 86_400

const page: AccountFormPage = {
  subjectName,
  form: { action: url, fields: { form_token: 'token' } },
  back: url,
}

const here: SessionView = {
  device: { browser: 'Firefox', system: 'Linux' },
  address: '2001:db8:85a3::8a2e:370:7334',
  unused: 0,
  isCurrent: true,
}
const phone: SessionView = {
  device: { browser: 'Safari', system: 'iOS' },
  address: '203.0.113.7',
  unused: 3 * day,
  isCurrent: false,
  end: url,
}

const profileFields: readonly ProfileField[] = [
  { claim: 'name', value: 'Alice Liddell' },
  { claim: 'nickname', value: '' },
  { claim: 'website', value: 'https://alice.example' },
  { claim: 'birthdate', value: '1990-12-31' },
  { claim: 'zoneinfo', value: 'Europe/Berlin' },
  { claim: 'locale', value: 'en' },
]
const problemOf: Readonly<Partial<Record<ProfileField['claim'], ProfileField['problem']>>> = {
  website: 'url',
  birthdate: 'date',
  zoneinfo: 'zone',
  locale: 'language',
}

const withdraw = url
const empty: OverviewView = { subjectName, sessions: [here], applications: [] }

const full: OverviewView = {
  subjectName,
  profile: { fields: profileFields.filter(({ value }) => value !== ''), change: url },
  changePassword: url,
  passkeys: {
    list: [
      { name: 'Laptop', added: 90 * day, unused: 5 * minute, rename: url, remove: url },
      { name: 'Security key with a rather long name', added: day, rename: url, remove: url },
    ],
    add: url,
  },
  factors: { app: true, codes: true, setUp: url, remove: url, newCodes: url },
  linked: {
    list: [{ provider: 'Google', name: 'alice@gmail.example', remove: url }],
    add: ['GitHub', 'Example Company'].map((provider) => ({ provider, url })),
  },
  email: { address: subjectName, isVerified: true, change: url },
  downloadData: url,
  deleteAccount: url,
  sessions: [here, phone, { device: {}, unused: 40 * day, isCurrent: false, end: url }],
  endOthers: url,
  applications: [
    { ...client, scopes: ['openid', 'profile', 'orders', 'files:write'], withdraw },
    { ...plainClient, scopes: ['openid'], withdraw },
  ],
}

const allNotices = [...Object.keys(notices), 'form_expired'] as readonly AccountNotice[]
const app = {
  ...page,
  secret: 'JBSWY3DPEHPK3PXPJBSWY3DPEHPK3PXP',
  uri: 'otpauth://totp/Example:alice?secret=JBSWY3DPEHPK3PXP',
}
/** The options that the script of the page passes to the browser. */
const registration = {
  challenge: 'AAAA',
  rp: { id: 'id.example.com', name: 'Example' },
  user: { id: 'AAAA', name: subjectName, displayName: subjectName },
  algorithms: [-7, -257],
  exclude: [],
  lifetime: 300,
}
const passkey = { ...page, suggestedName: 'Firefox on Linux', options: registration }
const password = { ...page, minLength: 8, maxLength: 256 }
const address = { ...page, address: subjectName }
const proof = { ...address, minutes: 15, again: url }
const service = 'id.example.com'

export const accountStates: StatesOfPages<AccountPages> = {
  overview: {
    usual: full,
    new: {
      ...empty,
      profile: { fields: [], change: url },
      email: { address: subjectName, isVerified: false, change: url },
      changePassword: url,
      passkeys: { list: [], add: url },
      factors: { app: false, codes: false, setUp: url, remove: url, newCodes: url },
      linked: { list: [], add: [{ provider: 'Google', url }] },
    },
    ...Object.fromEntries(allNotices.map((notice) => [notice, { ...empty, notice }])),
  },
  confirm: {
    end_session: { ...page, change: 'end_session', session: phone },
    end_other_sessions: { ...page, change: 'end_other_sessions' },
    remove_app: { ...page, change: 'remove_app' },
    kept_form: { ...page, change: 'kept_form', of: 'passkey' },
    download_data: { ...page, change: 'download_data' },
    delete_account: { ...page, change: 'delete_account' },
    new_recovery_codes: { ...page, change: 'new_recovery_codes' },
    remove_passkey: { ...page, change: 'remove_passkey', name: 'Laptop' },
    link_provider: { ...page, change: 'link_provider', provider: 'Google' },
    unlink_provider: { ...page, change: 'unlink_provider', provider: 'Google' },
    withdraw: { ...page, change: 'withdraw', application: { ...client, scopes: ['openid'] } },
  },
  addPasskey: {
    usual: passkey,
    passkey_not_valid: { ...passkey, problem: 'passkey_not_valid' },
    passkey_known: { ...passkey, problem: 'passkey_known' },
    passkey_limit: { ...passkey, problem: 'passkey_limit' },
  },
  setUpApp: { usual: app, wrong_code: { ...app, problem: 'wrong_code' } },
  recoveryCodes: {
    usual: {
      subjectName,
      codes: ['7KQ4-M2XD', 'H9TF-3RWB', 'C6NY-8PJE', '2VGS-K5ZA', 'X4DM-9QHU', 'B7RT-W3CF', 'N8PJ-6YEK', 'Z2VA-5GSL'],
      next: url,
    },
  },
  changeProfile: {
    usual: { ...page, fields: profileFields },
    wrong: { ...page, fields: profileFields.map((field) => ({ ...field, problem: problemOf[field.claim] ?? 'text' })) },
  },
  changeAddress: {
    usual: address,
    address_malformed: { ...address, address: 'alice', problem: 'address_malformed' },
    address_known: { ...address, problem: 'address_known' },
    too_many_attempts: { ...address, problem: 'too_many_attempts' },
    wrong_code: { ...address, problem: 'wrong_code' },
  },
  proveAddress: {
    usual: proof,
    address_malformed: { ...proof, problem: 'address_malformed' },
    address_known: { ...proof, problem: 'address_known' },
    too_many_attempts: { ...proof, problem: 'too_many_attempts' },
    wrong_code: { ...proof, problem: 'wrong_code' },
  },
  addressMail: { code: { kind: 'code', service, code: '48291357', minutes: 15 }, taken: { kind: 'taken', service } },
  changePassword: {
    usual: password,
    password_short: { ...password, problem: 'password_short' },
    password_long: { ...password, problem: 'password_long' },
    password_malformed: { ...password, problem: 'password_malformed' },
    password_personal: { ...password, problem: 'password_personal' },
    password_common: { ...password, problem: 'password_common' },
  },
  renamePasskey: { usual: { ...page, name: 'Laptop' } },
  mail: {
    session_ended: { change: 'session_ended', service, url },
    sessions_ended: { change: 'sessions_ended', service, url },
    access_withdrawn: { change: 'access_withdrawn', service, url },
    passkey_added: { change: 'passkey_added', service, url },
    passkey_renamed: { change: 'passkey_renamed', service, url },
    passkey_removed: { change: 'passkey_removed', service, url },
    app_added: { change: 'app_added', service, url },
    app_removed: { change: 'app_removed', service, url },
    recovery_codes_created: { change: 'recovery_codes_created', service, url },
    password_changed: { change: 'password_changed', service, url },
    profile_changed: { change: 'profile_changed', service, url },
    address_changed: { change: 'address_changed', service, url },
    data_downloaded: { change: 'data_downloaded', service, url },
    account_deleted: { change: 'account_deleted', service, url },
    provider_linked: { change: 'provider_linked', service, url },
    provider_unlinked: { change: 'provider_unlinked', service, url },
  },
  deleted: { usual: { again: url } },
  signedOut: { usual: { again: url } },
  error: { usual: { code: 'invalid_request', reason: 'plugin:account:not_same_origin', home: url } },
}
