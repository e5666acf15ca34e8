export { type Configuration, defineConfig } from './configuration/schema.ts'
