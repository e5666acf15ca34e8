export { type AdminOptions, admin, adminSchema } from './admin.ts'
export type { AdminHost } from './host.ts'
