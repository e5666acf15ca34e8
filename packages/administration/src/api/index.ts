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
export { createJsonSchema, type JsonSchemaDialect, jsonSchemaOf, type SchemaNode } from './json-schema.ts'
