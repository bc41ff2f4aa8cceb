// The shapes of Anthropic's Messages API that agent messages carry: responses, stream events and request messages.

/** A response of the Messages API. */
export type ApiMessage = {
  id: string;
  type: 'message';
  role: 'assistant';
  model: string;
  content: ApiContentBlock[];
  container: Container | null;
  context_management: ContextManagement | null;
  stop_reason: StopReason | null;
  stop_details: RefusalDetails | null;
  stop_sequence: string | null;
  usage: ApiUsage;
};

type StopReason =
  | 'end_turn'
  | 'max_tokens'
  | 'stop_sequence'
  | 'tool_use'
  | 'pause_turn'
  | 'compaction'
  | 'refusal'
  | 'model_context_window_exceeded';
type RefusalDetails = { type: 'refusal'; category: 'cyber' | 'bio' | null; explanation: string | null };
type Container = { id: string; expires_at: string; skills: ContainerSkill[] | null };
type ContainerSkill = { type: 'anthropic' | 'custom'; skill_id: string; version: string };
type ContextManagement = {
  applied_edits: (
    | { type: 'clear_tool_uses_20250919'; cleared_input_tokens: number; cleared_tool_uses: number }
    | { type: 'clear_thinking_20251015'; cleared_input_tokens: number; cleared_thinking_turns: number }
  )[];
};

/** The tokens that a response used. */
export type ApiUsage = {
  input_tokens: number;
  output_tokens: number;
  cache_creation: CacheCreation | null;
  cache_creation_input_tokens: number | null;
  cache_read_input_tokens: number | null;
  inference_geo: string | null;
  iterations: UsageIteration[] | null;
  server_tool_use: ServerToolUsage | null;
  service_tier: 'standard' | 'priority' | 'batch' | null;
  speed: 'standard' | 'fast' | null;
};

type CacheCreation = { ephemeral_1h_input_tokens: number; ephemeral_5m_input_tokens: number };
type ServerToolUsage = { web_fetch_requests: number; web_search_requests: number };
type IterationCount = {
  input_tokens: number;
  output_tokens: number;
  cache_creation: CacheCreation | null;
  cache_creation_input_tokens: number;
  cache_read_input_tokens: number;
};
type UsageIteration =
  | (IterationCount & { type: 'message' })
  | (IterationCount & { type: 'compaction' })
  | (IterationCount & { type: 'advisor_message'; model: string });

/** One event of a streamed response of the Messages API. */
export type ApiStreamEvent =
  | { type: 'message_start'; message: ApiMessage }
  | {
      type: 'message_delta';
      delta: Pick<ApiMessage, 'container' | 'stop_details' | 'stop_reason' | 'stop_sequence'>;
      context_management: ContextManagement | null;
      usage: DeltaUsage;
    }
  | { type: 'message_stop' }
  | { type: 'content_block_start'; index: number; content_block: ApiContentBlock }
  | { type: 'content_block_delta'; index: number; delta: ContentDelta }
  | { type: 'content_block_stop'; index: number };

type DeltaUsage = Pick<
  ApiUsage,
  | 'cache_creation_input_tokens'
  | 'cache_read_input_tokens'
  | 'iterations'
  | 'output_tokens'
  | 'server_tool_use'
> & { input_tokens: number | null };

type ContentDelta =
  | { type: 'text_delta'; text: string }
  | { type: 'input_json_delta'; partial_json: string }
  | { type: 'citations_delta'; citation: Citation }
  | { type: 'thinking_delta'; thinking: string }
  | { type: 'signature_delta'; signature: string }
  | { type: 'compaction_delta'; content: string | null; encrypted_content: string | null };

/** One content block of a response of the Messages API. */
export type ApiContentBlock =
  | TextBlock
  | ThinkingBlock
  | RedactedThinkingBlock
  | { type: 'tool_use'; id: string; name: string; input: unknown; caller?: Caller }
  | {
      type: 'server_tool_use';
      id: string;
      name: ServerTool | 'advisor';
      input: { [key: string]: unknown };
      caller?: Caller;
    }
  | (ToolResult<'web_search_tool_result', WebSearchError | WebSearchHit[]> & { caller?: Caller })
  | (ToolResult<'web_fetch_tool_result', WebFetchError | FetchedPage> & { caller?: Caller })
  | ToolResult<'advisor_tool_result', AdvisorResult>
  | ToolResult<'code_execution_tool_result', CodeExecutionResult>
  | ToolResult<'bash_code_execution_tool_result', BashExecutionResult>
  | ToolResult<'text_editor_code_execution_tool_result', TextEditorResult>
  | ToolResult<'tool_search_tool_result', ToolSearchResult>
  | { type: 'mcp_tool_use'; id: string; name: string; server_name: string; input: unknown }
  | (ToolResult<'mcp_tool_result', string | TextBlock[]> & { is_error: boolean })
  | { type: 'container_upload'; file_id: string }
  | { type: 'compaction'; content: string | null; encrypted_content: string | null };

type TextBlock = { type: 'text'; text: string; citations: Citation[] | null };
type ThinkingBlock = { type: 'thinking'; thinking: string; signature: string };
type RedactedThinkingBlock = { type: 'redacted_thinking'; data: string };
type ToolResult<Type extends string, Content> = { type: Type; tool_use_id: string; content: Content };

type ServerTool =
  | 'web_search'
  | 'web_fetch'
  | 'code_execution'
  | 'bash_code_execution'
  | 'text_editor_code_execution'
  | 'tool_search_tool_regex'
  | 'tool_search_tool_bm25';
type Caller =
  | { type: 'direct' }
  | { type: 'code_execution_20250825'; tool_id: string }
  | { type: 'code_execution_20260120'; tool_id: string };

type Located<Type extends string> = {
  type: Type;
  cited_text: string;
  document_index: number;
  document_title: string | null;
};
type CharLocation = Located<'char_location'> & { start_char_index: number; end_char_index: number };
type PageLocation = Located<'page_location'> & { start_page_number: number; end_page_number: number };
type BlockLocation = Located<'content_block_location'> & {
  start_block_index: number;
  end_block_index: number;
};
type WebSearchLocation = {
  type: 'web_search_result_location';
  cited_text: string;
  encrypted_index: string;
  title: string | null;
  url: string;
};
type SearchResultLocation = {
  type: 'search_result_location';
  cited_text: string;
  source: string;
  title: string | null;
  search_result_index: number;
  start_block_index: number;
  end_block_index: number;
};
type InFile = { file_id: string | null };
type Citation =
  | (CharLocation & InFile)
  | (PageLocation & InFile)
  | (BlockLocation & InFile)
  | WebSearchLocation
  | SearchResultLocation;

type ToolError<Type extends string, Code extends string> = { type: Type; error_code: Code };
type ExecutionErrorCode =
  | 'invalid_tool_input'
  | 'unavailable'
  | 'too_many_requests'
  | 'execution_time_exceeded';

type WebSearchError = ToolError<
  'web_search_tool_result_error',
  | 'invalid_tool_input'
  | 'unavailable'
  | 'max_uses_exceeded'
  | 'too_many_requests'
  | 'query_too_long'
  | 'request_too_large'
>;
type WebSearchHit = {
  type: 'web_search_result';
  url: string;
  title: string;
  encrypted_content: string;
  page_age: string | null;
};
type WebFetchError = ToolError<
  'web_fetch_tool_result_error',
  | 'invalid_tool_input'
  | 'url_too_long'
  | 'url_not_allowed'
  | 'url_not_accessible'
  | 'unsupported_content_type'
  | 'too_many_requests'
  | 'max_uses_exceeded'
  | 'unavailable'
>;
type FetchedPage = {
  type: 'web_fetch_result';
  url: string;
  retrieved_at: string | null;
  content: {
    type: 'document';
    source: PdfSource | PlainTextSource;
    title: string | null;
    citations: { enabled: boolean } | null;
  };
};
type PdfSource = { type: 'base64'; media_type: 'application/pdf'; data: string };
type PlainTextSource = { type: 'text'; media_type: 'text/plain'; data: string };

type AdvisorResult =
  | ToolError<
      'advisor_tool_result_error',
      | 'max_uses_exceeded'
      | 'prompt_too_long'
      | 'too_many_requests'
      | 'overloaded'
      | 'unavailable'
      | 'execution_time_exceeded'
    >
  | { type: 'advisor_result'; text: string }
  | { type: 'advisor_redacted_result'; encrypted_content: string };

type OutputFile<Type extends string> = { type: Type; file_id: string };
type CodeExecutionResult =
  | ToolError<'code_execution_tool_result_error', ExecutionErrorCode>
  | {
      type: 'code_execution_result';
      content: OutputFile<'code_execution_output'>[];
      return_code: number;
      stdout: string;
      stderr: string;
    }
  | {
      type: 'encrypted_code_execution_result';
      content: OutputFile<'code_execution_output'>[];
      return_code: number;
      encrypted_stdout: string;
      stderr: string;
    };
type BashExecutionResult =
  | ToolError<'bash_code_execution_tool_result_error', ExecutionErrorCode | 'output_file_too_large'>
  | {
      type: 'bash_code_execution_result';
      content: OutputFile<'bash_code_execution_output'>[];
      return_code: number;
      stdout: string;
      stderr: string;
    };
type TextEditorError = ToolError<
  'text_editor_code_execution_tool_result_error',
  ExecutionErrorCode | 'file_not_found'
>;
type EditorView = {
  type: 'text_editor_code_execution_view_result';
  content: string;
  file_type: 'text' | 'image' | 'pdf';
};
type EditorViewLines = { num_lines: number | null; start_line: number | null; total_lines: number | null };
type EditorCreate = { type: 'text_editor_code_execution_create_result'; is_file_update: boolean };
type EditorReplace = { type: 'text_editor_code_execution_str_replace_result' };
type EditorReplaceLines = {
  lines: string[] | null;
  new_lines: number | null;
  new_start: number | null;
  old_lines: number | null;
  old_start: number | null;
};
type TextEditorResult =
  | (TextEditorError & { error_message: string | null })
  | (EditorView & EditorViewLines)
  | EditorCreate
  | (EditorReplace & EditorReplaceLines);
type ToolSearchError = ToolError<'tool_search_tool_result_error', ExecutionErrorCode>;
type ToolSearchResult =
  | (ToolSearchError & { error_message: string | null })
  | {
      type: 'tool_search_tool_search_result';
      tool_references: { type: 'tool_reference'; tool_name: string }[];
    };

/** A message of a request to the Messages API. */
export type ApiMessageParam = { role: 'user' | 'assistant'; content: string | ApiContentParam[] };

type Cacheable = { cache_control?: { type: 'ephemeral'; ttl?: '5m' | '1h' } | null };
type TextParam = Cacheable & { type: 'text'; text: string; citations?: CitationParam[] | null };
type CitationParam = CharLocation | PageLocation | BlockLocation | WebSearchLocation | SearchResultLocation;
type ImageParam = Cacheable & {
  type: 'image';
  source:
    | {
        type: 'base64';
        media_type: 'image/jpeg' | 'image/png' | 'image/gif' | 'image/webp';
        data: string;
      }
    | { type: 'url'; url: string };
};
type DocumentParam = Cacheable & {
  type: 'document';
  source:
    | PdfSource
    | PlainTextSource
    | { type: 'content'; content: string | (TextParam | ImageParam)[] }
    | { type: 'url'; url: string };
  citations?: { enabled?: boolean } | null;
  context?: string | null;
  title?: string | null;
};
type SearchResultParam = Cacheable & {
  type: 'search_result';
  source: string;
  title: string;
  content: TextParam[];
  citations?: { enabled?: boolean };
};
type ToolReferenceParam = Cacheable & { type: 'tool_reference'; tool_name: string };

/** One content block of a request to the Messages API. */
export type ApiContentParam =
  | TextParam
  | ImageParam
  | DocumentParam
  | SearchResultParam
  | ThinkingBlock
  | RedactedThinkingBlock
  | (Cacheable & { type: 'tool_use'; id: string; name: string; input: unknown; caller?: Caller })
  | (Cacheable & {
      type: 'tool_result';
      tool_use_id: string;
      content?: string | (TextParam | ImageParam | SearchResultParam | DocumentParam | ToolReferenceParam)[];
      is_error?: boolean;
    })
  | (Cacheable & { type: 'server_tool_use'; id: string; name: ServerTool; input: unknown; caller?: Caller })
  | (Cacheable &
      ToolResult<
        'web_search_tool_result',
        WebSearchError | (Omit<WebSearchHit, 'page_age'> & { page_age?: string | null })[]
      > & { caller?: Caller })
  | (Cacheable &
      ToolResult<
        'web_fetch_tool_result',
        | WebFetchError
        | { type: 'web_fetch_result'; url: string; retrieved_at?: string | null; content: DocumentParam }
      > & { caller?: Caller })
  | (Cacheable & ToolResult<'code_execution_tool_result', CodeExecutionResult>)
  | (Cacheable & ToolResult<'bash_code_execution_tool_result', BashExecutionResult>)
  | (Cacheable &
      ToolResult<
        'text_editor_code_execution_tool_result',
        | (TextEditorError & { error_message?: string | null })
        | (EditorView & Partial<EditorViewLines>)
        | EditorCreate
        | (EditorReplace & Partial<EditorReplaceLines>)
      >)
  | (Cacheable &
      ToolResult<
        'tool_search_tool_result',
        ToolSearchError | { type: 'tool_search_tool_search_result'; tool_references: ToolReferenceParam[] }
      >)
  | (Cacheable & { type: 'container_upload'; file_id: string });
