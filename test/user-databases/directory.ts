import { ldapUsers } from '@grantry/users/ldap'
import type { LdapUsersInput } from '@grantry/users/options'
import { afterAll } from 'vitest'
import { suffix } from '../support/ldap-server.ts'

export const people = `ou=people,${suffix}`
/** The account that searches. */
export const reader = { bindDn: `cn=reader,${suffix}`, bindPassword: 'the-reader-password' }

interface Person {
  readonly uid: string
  readonly uuid: string
  readonly password?: string
  readonly more?: readonly string[]
}

const persons: readonly Person[] = [
  {
    uid: 'alice',
    uuid: '11111111-1111-4111-8111-111111111111',
    password: 'alice-password',
    more: [
      'mail: alice@example.com',
      'employeeNumber: 42',
      'businessCategory: admin',
      'businessCategory: editor',
      'departmentNumber: TRUE',
      'userAccountControl: 512',
      'objectGUID:: M1lQtK6Jck+1zuYnuG7JCQ==',
    ],
  },
  {
    uid: 'bob',
    uuid: '22222222-2222-4222-8222-222222222222',
    password: 'bob-password',
    more: ['userAccountControl: 514', 'nsAccountLock: TRUE'],
  },
  { uid: 'nopassword', uuid: '33333333-3333-4333-8333-333333333333' },
  // Both have the same mail.
  {
    uid: 'twin1',
    uuid: '44444444-4444-4444-8444-444444444444',
    password: 'twin-password',
    more: ['mail: twin@example.com'],
  },
  {
    uid: 'twin2',
    uuid: '55555555-5555-4555-8555-555555555555',
    password: 'twin-password',
    more: ['mail: twin@example.com'],
  },
  { uid: 'odd*(name)\\', uuid: '66666666-6666-4666-8666-666666666666', password: 'odd-password' },
]

const personLdif = ({ uid, uuid, password, more = [] }: Person): string =>
  [
    // Not by uid, which some contain characters that a DN escapes.
    `dn: employeeType=${uuid},${people}`,
    'objectClass: inetOrgPerson',
    'objectClass: otherAccount',
    `employeeType: ${uuid}`,
    `uid: ${uid}`,
    `cn: ${uid}`,
    'sn: x',
    `entryUUID: ${uuid}`,
    ...(password === undefined ? [] : [`userPassword: ${password}`]),
    ...more,
  ].join('\n')

export const directoryLdif = [
  `dn: ${suffix}\nobjectClass: dcObject\nobjectClass: organization\no: example\ndc: example`,
  `dn: ${reader.bindDn}\nobjectClass: organizationalRole\nobjectClass: simpleSecurityObject\ncn: reader\nuserPassword: ${reader.bindPassword}`,
  `dn: ${people}\nobjectClass: organizationalUnit\nou: people`,
  `dn: ou=elsewhere,${people}\nobjectClass: referral\nobjectClass: extensibleObject\nou: elsewhere\nref: ldap://127.0.0.1:1/ou=x`,
  ...persons.map(personLdif),
].join('\n\n')

export const mapping = {
  ...reader,
  // A busy machine is no outage.
  operationTimeout: 60,
  baseDn: people,
  attributes: {
    username: ['uid', 'mail'],
    claims: {
      name: 'cn',
      email: 'mail',
      role: { attribute: 'businessCategory', type: 'array' },
      employee: { attribute: 'employeeNumber', type: 'number' },
      email_verified: { attribute: 'departmentNumber', type: 'boolean' },
    },
  },
} as const satisfies Omit<LdapUsersInput, 'url'>

/** Users that are closed after the test file. */
export function ldapFactory() {
  const opened: { close(): Promise<void> }[] = []
  afterAll(() => Promise.all(opened.map((users) => users.close())))
  return (input: LdapUsersInput, more?: { readonly ca?: string }) => {
    const users = ldapUsers(input, more)
    opened.push(users)
    return users
  }
}
