export { type AdminOptions, admin, adminSchema } from './admin.ts'
export type {
  AdminHost,
  AdminInvitation,
  AdminInvitations,
  AdminSession,
  AdminSessions,
  AdminUser,
  AdminUsers,
} from './host.ts'
export { convert as jsonSchemaOf } from './json-schema.ts'
