/** Whether the server has answered, if only with a refusal. By name: there may be two copies of ioredis. */
export const isReplyError = (error: unknown): error is Error => error instanceof Error && error.name === 'ReplyError'
