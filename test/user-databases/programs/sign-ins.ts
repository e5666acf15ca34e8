// Signs a user in at each database of the only parameter, in JSON, with a right and a wrong password. Prints the results.
import { type LdapUsersInput, ldapUsers } from '@grantry/users/ldap'
import { type SqlUsersInput, sqlUsers } from '@grantry/users/sql'

export interface Order {
  readonly sql: readonly { readonly input: SqlUsersInput; readonly password: string }[]
  readonly ldap: readonly { readonly input: LdapUsersInput; readonly ca?: string; readonly password: string }[]
}

const order: Order = JSON.parse(process.argv[2] ?? '')
const services = [
  ...order.sql.map(({ input, password }) => ({ users: sqlUsers(input), password })),
  ...order.ldap.map(({ input, ca, password }) => ({ users: ldapUsers(input, { ca }), password })),
]
const results: unknown[] = []
for (const { users, password } of services) {
  try {
    await users.open()
    const right = await users.authenticate?.({ username: 'alice', password })
    const wrong = await users.authenticate?.({ username: 'alice', password: 'wrong' })
    const isActive = await users.isActive?.(right?.sub ?? '')
    const claims = await users.claims?.(right?.sub ?? '', ['email'])
    results.push([right?.sub, wrong === undefined, isActive, claims])
  } catch (error) {
    results.push(String((error as Error).cause ?? error))
  } finally {
    await users.close()
  }
}
process.stdout.write(JSON.stringify(results))
