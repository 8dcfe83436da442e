import type Anthropic from '@anthropic-ai/sdk';
import type * as Gemini from '@google/genai';
import type OpenAI from 'openai';

/** What the official SDKs send on inference paths; read only by the compiler. */
export interface Requests {
  responses: OpenAI.Responses.ResponseCreateParams;
  inputTokens: OpenAI.Responses.InputTokenCountParams;
  compact: OpenAI.Responses.ResponseCompactParams;
  chat: OpenAI.Chat.ChatCompletionCreateParams;
  completions: OpenAI.CompletionCreateParams;
  embeddings: OpenAI.EmbeddingCreateParams;
  image: OpenAI.Images.ImageGenerateParams;
  imageEdit: OpenAI.Images.ImageEditParams;
  imageVariation: OpenAI.Images.ImageCreateVariationParams;
  transcription: OpenAI.Audio.TranscriptionCreateParams;
  translation: OpenAI.Audio.TranslationCreateParams;
  speech: OpenAI.Audio.SpeechCreateParams;
  moderation: OpenAI.ModerationCreateParams;
  messages: Anthropic.MessageCreateParams;
  messageTokens: Anthropic.MessageCountTokensParams;
  betaMessages: Anthropic.Beta.Messages.MessageCreateParams;
  betaMessageTokens: Anthropic.Beta.Messages.MessageCountTokensParams;
  generate: Gemini.GenerateContentParameters;
  embed: Gemini.EmbedContentParameters;
  countTokens: Gemini.CountTokensParameters;
  interaction: Gemini.Interactions.InteractionCreateParams;
}
