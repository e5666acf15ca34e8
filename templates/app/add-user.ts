import { randomBytes } from 'node:crypto'
import { sqlAccounts } from '@grantry/users/sql-accounts'
import { usersTable } from './grantry.ts'

// Adds a user to the table: `npm run add-user -- alice alice@example.com`.

const [, , username = 'alice', email = `${username}@example.com`] = process.argv
const password = randomBytes(15).toString('base64url')
const accounts = sqlAccounts(usersTable(process.env))
await accounts.open()
const account = await accounts.create({ username, email, emailVerified: false, password, claims: { name: username } })
console.log(account === 'taken' ? `There is a user ${username} already` : `The password of ${username} is ${password}`)
await accounts.close()
