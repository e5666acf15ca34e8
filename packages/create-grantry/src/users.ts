import { newSecret } from './new-secret.ts'
import type { Part } from './part.ts'
import type { Answers } from './questions.ts'

/** The users, as `users` of `createProvider()`. */
export const users: Readonly<Record<Answers['users'], () => Part>> = {
  demo: () => ({
    code: `{
      // One demo user. Replace it by your users and their hashed passwords.
      authenticate: ({ username, password }) =>
        username === 'alice' && password === required(env, 'ALICE_PASSWORD') ? { sub: '1' } : undefined,
      isActive: (sub) => sub === '1',
      claims: () => ({ name: 'Alice Smith', email: 'alice@example.com', email_verified: true }),
    }`,
    settings: { ALICE_PASSWORD: newSecret().slice(0, 20) },
    packages: [],
  }),
}
