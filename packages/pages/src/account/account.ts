export { type AccountTemplates, createAccountPages } from './create-account-pages.ts'
