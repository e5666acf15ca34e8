export { type AccountPageSet, createAccountPages } from './create-account-pages.ts'
