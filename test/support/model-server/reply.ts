/** What the server does with one request; plain data, so that it can be handed to another process. */
export type Reply =
  | AnswerReply
  /** An error as the API of the request's path words it. */
  | {
      readonly kind: 'error';
      readonly status: number;
      readonly message: string;
      readonly type?: string;
      readonly code?: string | number;
      readonly param?: string;
      readonly headers?: Readonly<Record<string, string>>;
    }
  | {
      readonly kind: 'raw';
      readonly status: number;
      readonly body: string;
      readonly headers?: Readonly<Record<string, string>>;
    }
  /** Takes the request and is silent; closes the connection instead; sends and never stops. */
  | { readonly kind: 'hang' | 'reset' }
  | { readonly kind: 'endless'; readonly status: number };

export type AnswerReply = {
  readonly kind: 'answer';
  readonly text: string;
  /** Why the model stopped, as the API of the request's path names it. By default it had said everything. */
  readonly stop?: string;
  readonly thinking?: string;
  /** A tool that is called after the text. */
  readonly tool?: string;
  /** Cached ones are part of `input`. Null: the server does not tell. */
  readonly usage?: { readonly input: number; readonly output: number; readonly cached?: number } | null;
  /** In one piece of JSON, although a stream was asked for. */
  readonly isWhole?: boolean;
  readonly contentType?: string;
  /** After half of the events: the stream ends, breaks off, goes silent, or these bytes come in between. */
  readonly half?: 'end' | 'reset' | 'hang' | { readonly bytes: string };
  /** Between events. */
  readonly pauseMs?: number;
};

/** A good answer. */
export function answer(text: string, rest: Omit<Partial<AnswerReply>, 'kind' | 'text'> = {}): AnswerReply {
  return { kind: 'answer', text, ...rest };
}

export function failing(
  status: number,
  message: string,
  rest: Omit<Partial<Extract<Reply, { kind: 'error' }>>, 'kind' | 'status' | 'message'> = {},
): Reply {
  return { kind: 'error', status, message, ...rest };
}

export const DEFAULT_USAGE = { input: 120, output: 30, cached: 0 };

/** A text in the pieces in which a stream brings it. */
export function piecesOf(text: string): readonly string[] {
  return text.match(/[\s\S]{1,12}/gu) ?? [];
}
