export type { Message } from './message.ts'
export { type SmtpOptions, smtpSchema } from './options.ts'
export { type KeptMail, type OutboxMailer, outboxMailer } from './outbox.ts'
export { type SmtpMailer, smtpMailer } from './smtp.ts'
