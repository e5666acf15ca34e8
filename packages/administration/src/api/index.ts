export { type AdminOptions, admin, adminSchema } from './admin.ts'
export type { AdminHost, AdminSession, AdminSessions } from './host.ts'
