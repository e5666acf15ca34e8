export { hashSecret } from '@grantry/core'
export { hashPassword } from '@grantry/users/password-hash'
export { type Configuration, defineConfig } from './configuration/schema.ts'
