export { hashSecret } from '@grantry/core'
export { type Configuration, defineConfig } from './configuration/schema.ts'
export { hashPassword } from './users/password-hash.ts'
