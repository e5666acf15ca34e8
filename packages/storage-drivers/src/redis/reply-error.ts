/** Whether the error is a reply of the server. Compares the name: two copies of ioredis may be loaded. */
export const isReplyError = (error: unknown): error is Error => error instanceof Error && error.name === 'ReplyError'
