export { type AccountPageSet, type AccountTemplates, createAccountPages } from './create-account-pages.ts'
